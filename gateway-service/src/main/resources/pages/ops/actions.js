// What an operator may do, each with a sentence that says what will happen, and a line when it has.

import {$, enable, enableWhenSafe, isEnabled, make, openDialog, show, updateChildren, write} from './dom.js';
import {backOffMs, call, isUnsettled, newKey, pause} from './api.js';
import {amount, MONEY, SKU_ID, utc, WHOLE} from './entries.js';

const TRIES = 5;

/** Above the five minutes in which the gateway answers a call that may load a sale or read much. */
const LONG_MS = 330_000;

/** Above the time in which it answers any other call. */
export const SHORT_MS = 15_000;

/** How long a move of money or stock is remembered while its outcome is not known. */
const KEPT_MS = 86_400_000;

/** Begins the name of each remembered move in the browser's storage. */
const MOVE = 'seckill.move.';

/** Which states an action is legal in and what it does; sent once, with the longest wait for the answer, or repeated. */
const ON_A_SALE = {
  preheat: {
    label: 'Preheat',
    once: LONG_MS,
    from: ['NEW', 'PREHEATED', 'CLOSED'],
    text: 'Loads stock, rules and earlier orders from MySQL into Redis under a new epoch. Orders that MySQL has lost, and that a look has listed, are given up. Nobody can buy before you open the sale.',
    strongText: 'Checks that the sale is complete in MySQL, and fixes its rules. Nobody can buy before you open the sale.',
  },
  open: {
    label: 'Open',
    from: ['PREHEATED'],
    text: 'Shoppers can buy from its opening time on, at once if that has come.',
  },
  pause: {
    label: 'Pause',
    from: ['OPEN'],
    text: 'New purchases are refused with PAUSED until you resume. Orders already admitted go on.',
  },
  resume: {label: 'Resume', once: SHORT_MS, from: ['PAUSED'], text: 'Shoppers can buy again at once.'},
  close: {
    label: 'Close',
    from: ['PREHEATED', 'OPEN', 'PAUSED', 'CLOSED'], // again: Redis may have come back with older data that sell
    danger: true,
    text: 'Ends the sale: new purchases are refused with CLOSED. Orders already admitted go on. To sell again it must be preheated anew.',
  },
  archive: {
    label: 'Archive',
    once: LONG_MS,
    from: ['CLOSED'],
    danger: true,
    text: 'Ends the sale for good, if nothing of it is pending: Redis forgets it, and its orders move to the history. It can never be preheated again. Shoppers still find their orders. Repeat it to see how far it is.',
  },
};

/** What may decide the purchases of a sale, as the operator reads it. */
const DECIDERS = [['REDIS', 'Redis, fast'], ['MYSQL', 'MySQL, strong']];

/** In how many parts, on as many servers at most, a stock may be sold. */
const SHARDS = [1, 2, 4, 8, 16];

/** Outcomes of a reconciliation after which Redis may differ from MySQL, the worst last. */
const NOT_REPAIRED = ['FOUND', 'LOST', 'UNPROVEN'];

/** Sends what the open dialog asks; null while none is open. */
let perform = null;

/** A call of the operator who is signed in. When its token is refused that operator is signed out, and nobody who has signed in since. */
export async function operate(context, method, path, options = {}) {
  const token = context.token();
  const answer = await call(method, path, {...options, token});
  if (answer.status === 401 && context.token() === token) context.signInAgain();
  return answer;
}

/** Whether MySQL decides the purchases, without Redis. */
export function isStrong(product) {
  return product.decides === 'MYSQL';
}

/** Whether Redis has nothing of it. While one shard is in a fallback, it may have the others. */
function isWithoutRedis(product) {
  return isStrong(product) && product.shards === 1;
}

/** Whether Redis may have it: one that is new may have been preheated before MySQL was restored. Only a preheat makes shards. */
function isInRedis(product) {
  return product.state !== 'NEW' || product.shards === 1;
}

/** What operators chose to decide them: in a fallback MySQL decides those of Redis. */
export function chosenDecider(product) {
  return product.fallback === 'NO' ? product.decides : 'REDIS';
}

/**
 * The buttons for a product in its state.
 * @param {() => object} latest the product when a button is pressed
 */
export function actionButtons(product, latest, context) {
  return [
    ...Object.entries(ON_A_SALE).map(([name, action]) =>
      button(action.label, action.from.includes(product.state), () => askToAct(name, action, latest(), context))),
    button('Change stock…', product.state !== 'NEW', () => askForStock(latest(), context)),
    ...(isWithoutRedis(product) ? [] : [button('Reconcile…', isInRedis(product), () => askToReconcile(latest(), context))]),
    button('Audit…', product.state !== 'NEW', () => askToAudit(latest(), context)),
    button('Edit…', true, () => askForProduct(latest(), context)),
  ];
}

function askToAct(name, action, product, context) {
  ask(context, {
    title: `${action.label} SKU ${product.skuId}?`,
    text: `${product.name}: ${(isStrong(product) && action.strongText) || action.text}`,
    yes: action.label,
    danger: action.danger,
    run: () => {
      const path = `admin/v1/skus/${product.skuId}/${name}`;
      return action.once ? once('POST', context, path, undefined, action.once) : post(context, path);
    },
    done: (answer) => name === 'archive' ? `archive SKU ${product.skuId}: ${answer.json.phase}, ${answer.json.orders} orders moved` : `${name} SKU ${product.skuId}: ${answer.json.state}, ${answer.status === 202 ? answer.json.detail : `epoch ${answer.json.epoch}`}`,
    what: `${name} SKU ${product.skuId}`,
  });
}

export function button(label, enabled, onClick) {
  const made = make('button', {type: 'button', textContent: label});
  enable(made, enabled);
  made.addEventListener('click', () => isEnabled(made) && onClick());
  return made;
}

/** One with the same label stays, and keeps the focus: what it does must not depend on when it was made. */
export function updateButtons(at, buttons) {
  const old = new Map([...at.children].map((one) => [one.textContent, one]));
  updateChildren(at, buttons.map((made) => {
    const kept = old.get(made.textContent) || made;
    enable(kept, isEnabled(made));
    return kept;
  }));
}

function askForStock(product, context) {
  const move = movesOnce(context);
  ask(context, {
    title: `Change the stock of SKU ${product.skuId}?`,
    text: isStrong(product)
      ? 'Units to add are on sale at once. Units to withdraw (a number below 0) leave only if so many are unsold.'
      : 'Units to add go to MySQL, then to Redis, and are on sale at once. Units to withdraw (a number below 0) leave Redis first, and only if so many are unsold.',
    yes: 'Change stock',
    fields: [
      {name: 'delta', label: 'Units, e.g. 100 or -20', value: '', reads: WHOLE},
      {name: 'reason', label: 'Reason', value: ''},
    ],
    run: ({delta, reason}) => move(`admin/v1/skus/${product.skuId}/stock`, {delta}, reason),
    done: (answer) => `stock SKU ${product.skuId} by ${answer.json.delta}: ${answer.json.state}, ${answer.json.stock} units in MySQL`,
    what: `stock SKU ${product.skuId}`,
  });
}

function askToReconcile(product, context) {
  ask(context, {
    title: `Reconcile SKU ${product.skuId}?`,
    text: 'Compares Redis with MySQL, order by order. A look reports the differences; a repair also makes Redis follow MySQL and sends orders on that were lost on the way. What is admitted meanwhile is left alone. It may take two minutes.',
    yes: 'Reconcile',
    fields: [{name: 'how', label: 'How', value: 'look', options: ['look', 'repair']}],
    run: ({how}) => reconcile(context, product.skuId, how === 'look'),
    done: (answer) => `reconcile SKU ${product.skuId}: ${summary(answer.json)}`,
    what: `reconcile SKU ${product.skuId}`,
  });
}

/** Without an outcome, the last finding is shown, that of each shard. */
async function reconcile(context, skuId, dryRun) {
  const path = `admin/v1/skus/${skuId}/reconciliation`;
  const answer = await once('POST', context, path, {dryRun});
  if (!isUnsettled(answer) && answer.code !== 'RECONCILIATION_RUNNING') return answer;
  const reports = await insist(() => operate(context, 'GET', path));
  return {...answer, newest: reports.status === 200 ? newestOfEach(reports.json.reconciliations) : []};
}

/** Those first that need an operator most. */
function newestOfEach(reports) {
  return reports.filter((one, i) => reports.findIndex(({shard}) => shard === one.shard) === i)
    .sort((a, b) => NOT_REPAIRED.indexOf(b.outcome) - NOT_REPAIRED.indexOf(a.outcome));
}

function summary({outcome, detail, dryRun, counts}) {
  const repairs = Object.entries(counts || {}).map(([kind, n]) => `${n} × ${kind}`).join(', ');
  return `${dryRun ? 'look' : 'repair'}: ${outcome}${repairs ? `, ${repairs}` : ''}${detail ? `. ${detail}` : ''}`;
}

export function askToAudit({skuId}, context) {
  ask(context, {
    title: `Audit SKU ${skuId}?`,
    text: 'Counts its orders, quotas and payments and compares Redis with MySQL; changes nothing else. The new audit replaces the one of the day.',
    yes: 'Audit',
    run: () => once('POST', context, `admin/v1/skus/${skuId}/audit`),
    done: ({json}) => `audit SKU ${skuId}: ${json.differences.join(' · ') || 'no difference'}`,
    what: `audit SKU ${skuId}`,
  });
}

/** @param {object | null} product to edit; null for a new one */
export function askForProduct(product, context) {
  const now = Date.now();
  const iso = (ms) => new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000', '');
  const fresh = !product || product.state === 'NEW';
  let sent = null;
  const all = [
    {name: 'skuId', label: 'SKU, a number', value: product ? product.skuId : '', fixed: Boolean(product), reads: SKU_ID},
    {name: 'name', label: 'Name', value: product ? product.name : ''},
    {name: 'price', label: `Price in ${document.documentElement.dataset.currency}, e.g. 499.00`, value: product ? amount(product.priceCents) : '', fixed: !fresh, reads: MONEY},
    {name: 'stock', label: 'Units', value: product ? product.initialStock : '', fixed: !fresh, reads: WHOLE},
    {name: 'policy', label: 'Policy', value: product ? product.policy : 'LIMITED', options: ['LIMITED', 'ONE_PER_USER', 'UNLIMITED'], fixed: !fresh},
    {name: 'limitPerUser', label: 'Limit per user (LIMITED only)', value: product ? product.limitPerUser || '' : 5, fixed: !fresh, reads: WHOLE, when: ({policy}) => policy === 'LIMITED'},
    {name: 'decides', label: 'Decided by', value: product ? chosenDecider(product) : 'REDIS', options: DECIDERS, fixed: !fresh},
    {name: 'shards', label: 'Shards (1 unless one server is too slow; Redis only)', value: product ? product.shards : 1, options: SHARDS, fixed: !fresh, reads: WHOLE},
    {name: 'opensAt', label: 'Opens at, UTC', value: product ? product.opensAt : iso(now), fixed: !fresh},
    {name: 'closesAt', label: 'Closes at, UTC', value: product ? product.closesAt : iso(now + 86_400_000)},
  ];
  ask(context, {
    title: product ? `Edit SKU ${product.skuId}?` : 'Create a SKU?',
    text: fresh
      ? 'Writes the product to MySQL. It is not on sale before it is preheated and opened. Redis decides many more purchases a second; MySQL confirms each in its answer.'
      : 'After the first preheat only the name may change, and the closing time to a later one.',
    yes: product ? 'Save' : 'Create',
    fields: all,
    run: async (values) => {
      const path = `admin/v1/skus/${values.skuId}`;
      if (!product && sent !== values.skuId) {
        const existing = await operate(context, 'GET', path);
        if (existing.status !== 404) return refusedUnlessNew(values.skuId, existing);
      }
      sent = values.skuId; // a repeat may find what the first attempt wrote
      return once('PUT', context, path, {
        name: values.name,
        priceCents: values.price,
        stock: values.stock,
        policy: values.policy,
        limitPerUser: values.limitPerUser,
        decides: values.decides,
        shards: values.shards,
        opensAt: values.opensAt,
        closesAt: values.closesAt,
        version: product?.version,
      });
    },
    done: (answer) => `put SKU ${answer.json.skuId}: ${answer.json.name}, ${answer.json.initialStock} units at ${amount(answer.json.priceCents)}`,
    what: 'put SKU',
  });
}

function refusedUnlessNew(skuId, existing) {
  return existing.status === 200
    ? {...existing, status: 409, code: 'SKU_EXISTS', json: {detail: `SKU ${skuId} is ${existing.json.name}. Choose its row, then Edit…`}}
    : existing;
}

export function post(context, path, body) {
  return insist(() => operate(context, 'POST', path, {body, timeoutMs: SHORT_MS}));
}

/**
 * For a dialog that moves money or stock: it has one key, so its request is carried out once. The key is kept while the
 * outcome is not known, for a day, by all tabs, and over a sign-in: the same move, for any reason, is then a repeat.
 * @returns {(path: string, move: object, reason: string | null) => Promise<object>} isRepeat when it is done and the outcome
 *     of an earlier request was not known; isUnknown when its own is not
 */
export function movesOnce(context) {
  let key = newKey();
  return async (path, move, reason) => {
    const place = `${MOVE}${path}.${JSON.stringify(move)}`;
    const kept = keptKey(place);
    key = kept ?? key;
    keep(place, key);
    let tries = 0;
    const answer = await insist(() => {
      tries++;
      return operate(context, 'POST', path, {body: {...move, reason}, key, timeoutMs: SHORT_MS});
    });
    const done = answer.status >= 200 && answer.status < 300;
    const refused = !isUnsettled(answer) && kept === null && tries === 1; // a later refusal undoes no earlier try
    const isUnknown = !done && !refused && answer.code !== 'IDEMPOTENCY_KEY_REUSED'; // the key of another move
    if (isUnknown) keep(place, key); // another tab may have had an answer
    else localStorage.removeItem(place);
    if (kept !== null && answer.code === 'IDEMPOTENCY_KEY_REUSED') key = newKey(); // this move was never made
    return {...answer, isRepeat: done && kept !== null, isUnknown};
  };
}

/** A former page kept the key for its tab only. */
function keptKey(place) {
  const {key, until} = JSON.parse(localStorage.getItem(place)) ?? {};
  return until > Date.now() ? key : sessionStorage.getItem(place);
}

function keep(place, key) {
  const expired = Object.keys(localStorage).filter((one) => one.startsWith(MOVE) && keptKey(one) === null);
  expired.forEach((one) => localStorage.removeItem(one));
  localStorage.setItem(place, JSON.stringify({key, until: Date.now() + KEPT_MS}));
  sessionStorage.removeItem(place);
}

export function put(context, path, body) {
  return insist(() => operate(context, 'PUT', path, {body, timeoutMs: SHORT_MS}));
}

/**
 * A long call: a repeat would find the first one still running, or begin its work anew. And a call whose repeat could undo
 * what an operator has done since, such as a pause.
 */
export function once(method, context, path, body, timeoutMs = LONG_MS) {
  return operate(context, method, path, {body, timeoutMs});
}

/** Every write may be repeated until it has succeeded; a few times a short one is, by itself, until its dialog is left. */
async function insist(attempt) {
  const asked = perform;
  for (let n = 1; ; n++) {
    const answer = await attempt();
    if (!isUnsettled(answer) || n === TRIES) return answer;
    await pause(backOffMs(n, answer.retryAfterMs));
    if (perform !== asked) return answer;
  }
}

/**
 * Opens the confirmation. A field with reads is a number, and null unless its when holds; nothing is sent while one is unreadable.
 * @param {{title: string, text: string, yes: string, danger?: boolean, fields?: object[],
 *     run: (values: object) => Promise<object>, done: (answer: object) => string, what: string}} question
 */
export function ask(context, question) {
  write($('confirm-title'), question.title);
  write($('confirm-text'), question.text);
  write($('confirm-yes'), question.yes);
  write($('confirm-problem'), '');
  $('confirm-yes').className = question.danger ? 'danger' : 'primary';
  $('confirm-fields').replaceChildren(...(question.fields || []).map(field));
  enableWhenSafe($('confirm-yes'));
  perform = () => confirmed(context, question);
  openDialog($('confirm'));
  ($('confirm-fields').querySelector('input:not([readonly])') || $('confirm-no')).focus();
}

function field({name, label, value, options, fixed}) {
  const control = options
    ? make('select', {name}, ...options.map((option) => [option].flat()).map(([key, text = key]) => make('option', {value: key, textContent: text})))
    : make('input', {name, autocomplete: 'off', readOnly: Boolean(fixed)});
  control.value = String(value);
  if (options) control.disabled = Boolean(fixed);
  return make('label', {}, label, control);
}

async function confirmed(context, question) {
  if (!isEnabled($('confirm-yes'))) return;
  const values = {};
  $('confirm-fields').querySelectorAll('input, select').forEach((control) => (values[control.name] = control.value.trim()));
  const bad = (question.fields || []).find((one) => !readNumber(one, values));
  write($('confirm-problem'), bad ? `${bad.label}: this must be ${bad.reads.expects}.` : '');
  if (bad) {
    $('confirm-fields').querySelector(`[name=${bad.name}]`).focus();
    return;
  }
  enable($('confirm-yes'), false);
  const mine = perform;
  const answer = await question.run(values);
  const isOpen = perform === mine; // and no later dialog, which is not to be touched
  if (isOpen) enable($('confirm-yes'), true);
  const taken = answer.status >= 200 && answer.status < 300;
  const good = taken && !needsAttention(answer.json);
  auditLine(taken ? `${question.done(answer)}` : `${question.what}: ${problem(answer)}`, good, answer);
  if (taken || answer.status === 409) context.changed(); // 409: somebody else has changed it
  if (!isOpen) return;
  if (taken) $('confirm').close();
  else write($('confirm-problem'), problem(answer));
}

/** A withdrawal of more than is left, or differences: an audit lists them, a check of the wallets has their number. */
function needsAttention({state, outcome, differences}) {
  return state === 'REFUSED' || NOT_REPAIRED.includes(outcome) || differences > 0 || differences?.length > 0;
}

/** Replaces the text of a number field by its number; false when it is none. */
function readNumber({name, reads, when}, values) {
  if (!reads) return true;
  const needed = !when || when(values);
  values[name] = needed ? reads.read(values[name]) : null;
  return !needed || values[name] !== null;
}

function problem(answer) {
  const what = answer.status === 0
    ? 'no answer: what was done is not known. The same action may be repeated.'
    : refusal(answer);
  const {newest = [], isUnknown} = answer;
  if (isUnknown) return `${what} (until its outcome is known, the same action again counts once)`;
  return newest.length === 0 ? what : `${what} ${newest.map(reported).join(' · ')}`;
}

function reported(report) {
  const part = report.shard === undefined ? '' : ` of shard ${report.shard}`;
  return `The newest report${part}, by ${report.startedBy} at ${utc(report.endedAt)} UTC: ${summary(report)}`;
}

/** Why an answer is not the one that was asked for. */
export function refusal({status, code, json}) {
  return status === 0 ? 'no answer' : `${code || status}: ${json.detail || json.title || 'refused'}`;
}

function auditLine(text, good, answer) {
  const time = new Date().toISOString().slice(11, 19);
  const id = answer.json.correlationId ? ` (correlation ${answer.json.correlationId})` : '';
  const once = answer.isRepeat ? '; it counts once, together with the earlier request whose outcome was not known' : '';
  $('audit').prepend(make('li', {className: good ? '' : 'bad', textContent: `${time} UTC · ${text}${once}${id}`}));
  show($('no-audit'), false);
}

export function listenToConfirmation() {
  $('confirm-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (perform) perform();
  });
  $('confirm-no').addEventListener('click', () => $('confirm').close());
  $('confirm').addEventListener('close', () => {
    if (!$('confirm').open) perform = null;
  });
}
