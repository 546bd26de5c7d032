// Who is signed in, in this tab only.

const STORE = 'seckill.token';

/** The token, or null when nobody is signed in or its time is over. */
export function token() {
  const kept = sessionStorage.getItem(STORE);
  const claims = kept && claimsOf(kept);
  return claims && claims.exp * 1000 > Date.now() - 60_000 ? kept : null;
}

/** The shopper's number, or null. */
export function user() {
  const kept = token();
  return kept ? claimsOf(kept).sub : null;
}

/** @returns {boolean} false when the text is no shopper's token */
export function signIn(text) {
  const claims = claimsOf(text);
  if (!claims || !/^[1-9][0-9]{0,18}$/.test(claims.sub)) return false;
  sessionStorage.setItem(STORE, text);
  return true;
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
