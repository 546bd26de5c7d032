// The server's time. The quickest answer of late tells it best: its error is at most half its round trip.

const TRUSTED_MS = 300_000;
const SLEPT_MS = 2_000;
let best = null;
let former = null; // the best before a sleep
let apart = Date.now() - performance.now();

/** Takes an answer's own time, sent within it.
 * @param {{sentAt: number, receivedAt: number}} answer as call() gives it
 * @param {string} serverTime ISO-8601
 */
export function hear(answer, serverTime) {
  const roundTrip = answer.receivedAt - answer.sentAt;
  const offset = Date.parse(serverTime) + roundTrip / 2 - answer.receivedAt;
  const stale = best && answer.receivedAt - best.at > TRUSTED_MS;
  // By more than both errors: this machine has slept for a moment, or while an answer was on its way.
  const contradicted = best && Math.abs(offset - best.offset) > (roundTrip + best.roundTrip) / 2;
  if (!best || stale || contradicted || roundTrip < best.roundTrip) {
    best = {at: answer.receivedAt, roundTrip, offset};
  }
}

/** Whether this machine has slept since the last call. Its performance.now() has stood still: the clock is not set any more. */
export function hasSlept() {
  const before = apart;
  apart = Date.now() - performance.now();
  if (apart - before < SLEPT_MS) return false;
  former = best ?? former;
  best = null;
  return true;
}

/** Whether the server's time is known. */
export function isSet() {
  return best !== null;
}

/**
 * Unix ms by the server's clock. Until that is set: after a sleep, as if there had been none; before the first answer,
 * by this machine's clock, which may be wrong by days.
 */
export function now() {
  const known = best ?? former;
  return known ? performance.now() + known.offset : Date.now();
}

/** h:mm:ss or m:ss, with days in front when there are any; never below zero. */
export function countdown(ms, dayWord) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const part = (divisor, modulus) => Math.floor(seconds / divisor) % modulus;
  const two = (n) => String(n).padStart(2, '0');
  const days = Math.floor(seconds / 86400);
  if (days > 0) return `${days} ${dayWord} ${two(part(3600, 24))}:${two(part(60, 60))}:${two(part(1, 60))}`;
  return seconds >= 3600
    ? `${part(3600, 24)}:${two(part(60, 60))}:${two(part(1, 60))}`
    : `${part(60, 60)}:${two(part(1, 60))}`;
}
