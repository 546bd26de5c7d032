// Who is signed in, in this tab only.

import {isToken} from './api.js';
import {isSet, now} from './clock.js';

const STORE = 'seckill.token';

/** The token, or null when nobody is signed in. Whether its time is over is the server's to say. */
export function token() {
  return sessionStorage.getItem(STORE);
}

/** Whether somebody has signed in since a call was sent with this token: its answer is then of no use. */
export function isOver(sent) {
  return token() !== null && token() !== sent;
}

/** The shopper's number, or null. */
export function user() {
  return claimsOf(token())?.sub ?? null;
}

/** @returns {'' | 'badToken' | 'expiredToken'} why not; empty when signed in */
export function signIn(text) {
  const claims = claimsOf(text);
  if (!isToken(text) || !claims || !/^[1-9][0-9]{0,18}$/.test(claims.sub)) return 'badToken';
  if (isSet() && claims.exp * 1000 < now()) return 'expiredToken'; // else the server says so
  sessionStorage.setItem(STORE, text);
  return '';
}

/** As signIn, with the token of a link, which does not change who is signed in. */
export function signInByLink(text) {
  if (!user()) return signIn(text);
  if (user() === claimsOf(text)?.sub) signIn(text);
  return '';
}

export function signOut() {
  sessionStorage.removeItem(STORE);
}

/** Read without a check: whether it is genuine is the server's to say. */
function claimsOf(text) {
  try {
    const part = text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(atob(part));
  } catch {
    return null;
  }
}
