// Watches one order: by server-sent events, and by asking while those are not to be had.

import {backOffMs, call, pause, stream} from './api.js';

const FINAL = new Set(['PAID', 'CANCELLED', 'EXPIRED', 'REJECTED']);
const LIMITS = {firstMs: 4000, silenceMs: 40_000};

/** Between two tries to follow an order that may stay unpaid for half an hour, after some were refused. */
const UNPAID_MS = 20_000;
const SOME_TRIES = 5;

export function isFinal(status) {
  return FINAL.has(status);
}

/**
 * @param {{onOrder: (order: object) => void, onLink: (up: boolean) => void, onLost: (status: number) => void}}
 *     listener onLost once, with 401 or 404, after which nothing more comes
 * @returns {() => void} ends it
 */
export function follow(orderId, token, listener) {
  const stopped = new AbortController();
  run(orderId, token, listener, stopped.signal);
  return () => stopped.abort();
}

async function run(orderId, token, listener, signal) {
  let over = false;
  let failures = 0; // in a row: streams that were refused, or did not last
  const take = (order) => {
    if (signal.aborted) return;
    over = isFinal(order.status);
    listener.onLink(true);
    listener.onOrder(order);
  };
  const path = `api/v1/orders/${orderId}`;
  while (!over && !signal.aborted) {
    let heard = false;
    const begun = performance.now();
    const events = await stream(`${path}/events`, token, signal, (name, order) => {
      heard = true;
      take(order);
    }, LIMITS);
    if (over || signal.aborted) return;
    failures = heard && performance.now() - begun > LIMITS.firstMs ? 0 : failures + 1;
    const answer = await call('GET', path, {token, timeoutMs: 4000});
    if (signal.aborted) return;
    if (answer.status === 200 && answer.json.orderId) {
      take(answer.json);
    } else if (answer.status === 401 || (answer.status === 404 && answer.code)) {
      listener.onLost(answer.status);
      return;
    } else {
      listener.onLink(false);
    }
    const rests = answer.json.status === 'CONFIRMED' && failures > SOME_TRIES;
    const asked = Math.max(rests ? UNPAID_MS : 0, events.retryAfterMs, answer.retryAfterMs);
    if (!over) await pause(backOffMs(failures, asked));
  }
}
