package io.seckill.relay.lane;

/** What a lane is doing; one log line per change. */
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
  /** Ended. */
  STOPPED
}
