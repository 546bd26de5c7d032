// An intention to buy: one key, made once and kept before anything is sent. Whatever happens to the
// answer, or to the page, the same key is sent again, and the server makes one order of it.

import {backOffMs, call, isUnsettled, newKey, pause} from './api.js';

const place = ({sku, user}) => `seckill.intention.${user}.${sku}`;

/** What this tab means to buy of a SKU, or has bought of it last; null for nothing. */
export function intention(sku, user) {
  try {
    return JSON.parse(sessionStorage.getItem(place({sku, user})));
  } catch {
    return null;
  }
}

/** A new intention, kept at once. */
export function intend(sku, user, quantity) {
  return keep({sku, user, quantity, key: newKey(), orderId: null});
}

/**
 * An order of this shopper to go on with, which some other tab may have made. An intention without an order yet comes
 * first: whether its key has made one is not known. One whose order has no result yet stays kept meanwhile.
 */
export function adopt(sku, user, orderId) {
  const kept = intention(sku, user);
  const other = {sku, user, quantity: 0, key: null, orderId};
  if (!kept?.key) return keep(other);
  return !kept.orderId || kept.orderId === orderId ? kept : other;
}

/** Its order has a result, which no store forgets: the key has done its work, and is never sent again. */
export function settle(wanted, orderId) {
  return keep({...wanted, key: null, orderId});
}

/** Does nothing while another one is kept. */
export function forget(wanted) {
  const kept = intention(wanted.sku, wanted.user);
  if (kept?.key === wanted.key && kept?.orderId === wanted.orderId) sessionStorage.removeItem(place(wanted));
}

/**
 * Sends it until there is an answer that says yes or no.
 * @param {() => boolean} isWanted asked after every wait; false ends it
 * @param {(answer: object) => void} onFailure before each wait
 * @returns {Promise<{accepted?: object, wanted?: object, refused?: object, signIn?: boolean}>} wanted with its order; empty
 *     when not wanted any more
 */
export async function submit(wanted, token, isWanted, onFailure) {
  for (let attempt = 0; isWanted(); attempt++) {
    const answer = await call('POST', `api/v1/skus/${wanted.sku}/orders`, {
      token,
      key: wanted.key,
      body: {quantity: wanted.quantity},
      timeoutMs: 4000,
    });
    if (answer.status >= 200 && answer.status < 300 && answer.json.orderId) {
      const placed = {...wanted, orderId: answer.json.orderId};
      if (intention(wanted.sku, wanted.user)?.key === wanted.key) keep(placed); // else a newer one is kept
      return {accepted: answer.json, wanted: placed};
    }
    if (answer.status === 401) return {signIn: true};
    if (answer.status >= 400 && !isUnsettled(answer)) {
      forget(wanted); // a refused key leaves no trace
      return {refused: answer};
    }
    onFailure(answer);
    await pause(backOffMs(attempt, answer.retryAfterMs));
  }
  return {};
}

function keep(wanted) {
  sessionStorage.setItem(place(wanted), JSON.stringify(wanted));
  return wanted;
}
