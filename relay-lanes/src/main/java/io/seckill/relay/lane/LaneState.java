package io.seckill.relay.lane;

/**
 * The activity of a lane; one log line per change.
 *
 * <pre>
 * STARTING → RUNNING                first progress
 * any but STOPPED → *_UNAVAILABLE   a failure of that server; then a pause
 * *_UNAVAILABLE → RUNNING           progress, more than 1 s after the last such pause
 * any but STOPPED → BLOCKED         an alarm of the broker
 * BLOCKED → RUNNING                 the alarm has ended
 * any → STOPPED                     the stop, after draining
 * </pre>
 */
public enum LaneState {
  /** Not yet connected for the first time. */
  STARTING,
  /** Takes and publishes; also when there is nothing to take. */
  RUNNING,
  /** Connected, but an alarm of the broker blocks publishing. Takes nothing. */
  BLOCKED,
  /** The broker is unavailable or refuses orders. Takes nothing, retries. */
  BROKER_UNAVAILABLE,
  /** Redis is unavailable or answers with an error. Retries. */
  REDIS_UNAVAILABLE,
  STOPPED
}
