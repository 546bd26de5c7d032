// HTTP as values: a call always answers, if only with status 0 when nobody knows what was done.

/** Tries of a repeated read, the last one after about ten seconds. */
const READS = 6;

/** Longest wait that an answer may ask for; a browser's timer takes no more than 24 days. */
const LONGEST_ASKED_S = 3600;

/**
 * One call.
 * @param {string} method
 * @param {string} path relative to the page
 * @param {{token?: string, key?: string, body?: object, accept?: string, timeoutMs?: number}} options
 * @returns {Promise<{status: number, json: any, text: string, code: string, retryAfterMs: number, sentAt: number,
 *     receivedAt: number}>} code is the problem's, times are of performance.now()
 */
export async function call(method, path, {token, key, body, accept = 'application/json', timeoutMs = 8000} = {}) {
  const headers = {Accept: accept};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (key) headers['Idempotency-Key'] = key;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const sentAt = performance.now();
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
      cache: 'no-store',
      credentials: 'omit',
    });
    const text = await response.text();
    // What should be JSON and is not is no answer, but a page of another server, such as the sign-in of a proxy.
    const json = response.ok && accept === 'application/json' ? JSON.parse(text) : parsed(text);
    return {status: response.status, json, text, code: json.code || '', retryAfterMs: retryAfterMs(response), sentAt, receivedAt: performance.now()};
  } catch {
    return {status: 0, json: {}, text: '', code: '', retryAfterMs: 0, sentAt, receivedAt: performance.now()};
  }
}

/** An idempotency key of 128 bits; randomUUID would need a secure context. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether a text has the form of a token. On other characters, such as invisible ones, fetch fails as without an answer. */
export function isToken(text) {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
}

/** What the answer asks to wait; a date counts as nothing. */
function retryAfterMs(response) {
  return 1000 * Math.min(LONGEST_ASKED_S, Number(response.headers.get('Retry-After')) || 0);
}

/**
 * Whether the same call should be repeated: no answer, an answer that says so, too many calls, or a refusal by a
 * firewall or a proxy: the shop's own has a code.
 */
export function isUnsettled({status, code}) {
  return status === 0 || status === 429 || status >= 500 || (status >= 400 && status !== 401 && !code);
}

/** Milliseconds before attempt n + 2: doubled each time up to 8 s, with jitter, never under Retry-After. */
export function backOffMs(attempt, retryAfterMs = 0) {
  const full = Math.min(8000, 400 * 2 ** attempt);
  return Math.max(retryAfterMs, full / 2) + (Math.random() * full) / 2;
}

/**
 * A read that is repeated a few times while there is no answer, and ends when it is begun anew.
 * @param {(isNewest: () => boolean) => Promise<boolean>} read resolves to whether there is an answer
 * @returns {() => Promise<boolean>} resolves to false when it has given up
 */
export function repeated(read) {
  let newest = 0;
  return async () => {
    const mine = ++newest;
    const isNewest = () => mine === newest;
    for (let attempt = 0; attempt < READS && isNewest(); attempt++) {
      if (await read(isNewest)) return true;
      await pause(backOffMs(attempt));
    }
    return !isNewest();
  };
}

/** Waits; shorter when the machine comes back online. */
export function pause(ms) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
  });
}

/** Server-sent events read with fetch, because EventSource cannot carry a token.
 * @param {(name: string, data: any) => void} onEvent
 * @param {{firstMs: number, silenceMs: number}} limits longest wait for the first event and between any bytes
 * @returns {Promise<{status: number, code: string, json: any, retryAfterMs: number}>} when the stream ends or breaks;
 *     status 0 without an answer
 */
export async function stream(path, token, signal, onEvent, {firstMs, silenceMs}) {
  const own = new AbortController();
  const abort = () => own.abort();
  signal.addEventListener('abort', abort);
  let timer = setTimeout(abort, firstMs);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(abort, silenceMs);
  };
  let status = 0;
  let json = {};
  let waitMs = 0;
  try {
    const headers = {Accept: 'text/event-stream', Authorization: `Bearer ${token}`};
    const response = await fetch(path, {headers, signal: own.signal, cache: 'no-store', credentials: 'omit'});
    status = response.status;
    waitMs = retryAfterMs(response);
    if (status === 200) await read(response.body, onEvent, alive);
    else json = parsed(await response.text());
  } catch {
    // broken off: the caller asks again
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    own.abort();
  }
  return {status, code: json.code || '', json, retryAfterMs: waitMs};
}

async function read(body, onEvent, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    alive();
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    blocks.forEach((block) => dispatch(block, onEvent));
  }
}

function dispatch(block, onEvent) {
  let name = 'message';
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    if (line.startsWith('data:')) data.push(line.slice(5).trim());
  }
  if (data.length > 0) onEvent(name, JSON.parse(data.join('\n')));
}

function parsed(text) {
  try {
    return JSON.parse(text) || {};
  } catch {
    return {};
  }
}
