// The shop page: which product, who buys, and what became of it.

import {$, enable, enableWhenSafe, isEnabled, make, openDialog, show, updateRows, write} from './dom.js';
import {backOffMs, call, isUnsettled, pause, repeated} from './api.js';
import {countdown, hasSlept, hear, isSet, now} from './clock.js';
import {adopt, forget, intend, intention, settle, submit} from './purchase.js';
import {follow, isFinal} from './follow.js';
import {language, money, switchLanguage, t, translatePage} from './words.js';
import {renderOrder} from './orderview.js';
import {pagedList} from './pages.js';
import {listenToWallet, readWallet, renderWallet} from './wallet.js';
import * as session from './session.js';

const ORDER_IN_ADDRESS = /^#(\d+)$/;
const TOKEN_IN_ADDRESS = /^#token=(.+)/;
const MOST_WITHOUT_LIMIT = 100;
const TICK_MS = 250;
const SPREAD_MS = 8000;
const MINUTE_MS = 60_000;
const AWAY_MS = 16_000;
const MOST_LOSSES = 6;
const WITHOUT_RESULT = new Set(['QUEUED', 'DELAYED']);
const RANKS = {QUEUED: 0, DELAYED: 1, CONFIRMED: 2}; // all others are final

/** phase: idle, sending, busy, retrying, signedOut, refused, gone, order */
const state = {
  sku: Number(new URLSearchParams(location.search).get('sku')) || null,
  product: null,
  unknown: false,
  away: false,
  wanted: null,
  phase: 'idle',
  order: null,
  refusal: '',
  linkUp: true,
  acting: null, // {name, orderId} of the call under way
  declined: null, // the order whose payment was not accepted
};
let stopFollowing = () => {};
let losses = 0; // in a row: times the order at hand was not known any more
let afterSignIn = null;
let signIns = 0; // attempts; a closed dialog ends the one under way
let refreshTimer = 0;
let failures = 0; // in a row, of reading the product
let productReads = 0;

// ---- the product ----

function isBuyable(product) {
  const time = now();
  return (
    product.state === 'OPEN' &&
    !product.soldOut &&
    time >= Date.parse(product.opensAt) &&
    time < Date.parse(product.closesAt)
  );
}

function mostAtOnce(product) {
  return product.policy === 'UNLIMITED' ? MOST_WITHOUT_LIMIT : Math.min(product.limitPerUser || 1, MOST_WITHOUT_LIMIT);
}

function availability(product) {
  if (product.state === 'CLOSED' || now() >= Date.parse(product.closesAt)) return ['closed', ''];
  if (product.soldOut) return ['soldOut', 'bad'];
  if (product.state === 'PAUSED') return ['paused', 'warn'];
  if (!isBuyable(product)) return ['soon', 'warn'];
  return product.nearlyGone ? ['nearlyGone', 'warn'] : ['onSale', 'good'];
}

function timer(product) {
  const opens = Date.parse(product.opensAt) - now();
  if (product.state === 'CLOSED' || now() >= Date.parse(product.closesAt)) return [t('isClosed'), ''];
  if (opens > 0) return [t('opensIn'), countdown(opens, t('day'))];
  if (product.state === 'PAUSED') return [t('isPaused'), ''];
  if (product.state !== 'OPEN') return [t('isSoon'), ''];
  return [t('closesIn'), countdown(Date.parse(product.closesAt) - now(), t('day'))];
}

async function refreshProduct() {
  clearTimeout(refreshTimer);
  const mine = ++productReads;
  const answer = await call('GET', `api/v1/skus/${state.sku}`);
  if (mine !== productReads) return; // the newer read goes on
  state.away = isUnsettled(answer);
  failures = state.away ? failures + 1 : 0;
  if (answer.status === 200) {
    hear(answer, answer.json.serverTime);
    state.product = answer.json;
  }
  if (!state.away) state.unknown = answer.status !== 200;
  render();
  refreshTimer = setTimeout(refreshWhenSeen, Math.max(refreshInMs(), answer.retryAfterMs));
}

/**
 * Rarely, and never all shoppers at the same moment. A page that has read an open sale needs no other read to buy at
 * the opening; until then a page reads the product again in the last seconds before it.
 */
function refreshInMs() {
  const product = state.product;
  if (state.unknown) return aMinute(); // it may be created yet
  if (!product || !isSet()) return backOffMs(2 + failures);
  const inMs = usualRefreshInMs(product);
  if (!state.away) return inMs;
  // Soon after the first failure only: a gateway that refuses reads is not to get more of them for long.
  return Math.min(inMs, AWAY_MS * 2 ** (failures - 1) * (0.75 + Math.random() / 4));
}

function usualRefreshInMs(product) {
  const waitMs = Date.parse(product.opensAt) - now() - (product.state === 'OPEN' ? 0 : SPREAD_MS);
  if (waitMs > 0) return Math.min(60_000, waitMs) + Math.random() * SPREAD_MS;
  return (product.state === 'CLOSED' ? 60_000 : product.state === 'PREHEATED' ? 3_000 : 8_000) * (0.75 + Math.random() / 2);
}

/** About a minute, and never the same for all shoppers. */
function aMinute() {
  return MINUTE_MS * (0.75 + Math.random() / 2);
}

function refreshWhenSeen() {
  whenSeen(state.sku ? refreshProduct : refreshList);
}

function whenSeen(refresh) {
  if (document.hidden) document.addEventListener('visibilitychange', refresh, {once: true});
  else refresh();
}

function renderProduct() {
  const product = state.product;
  show($('product'), Boolean(product));
  write($('away'), state.unknown ? t('unknownProduct') : t('pageUnavailable'));
  show($('away'), state.unknown || state.away);
  if (!product) return;
  const title = t('title', {name: product.name});
  if (document.title !== title) document.title = title;
  write($('name'), product.name);
  write($('price'), money(product.priceCents));
  write($('rule'), t(`rules${product.policy}`, {limit: product.limitPerUser}));
  show($('at-once'), product.decides === 'MYSQL');
  const [words, tone] = availability(product);
  write($('availability'), t(words));
  $('availability').className = `badge ${tone}`;
  const [label, time] = timer(product);
  write($('timer-label'), label);
  write($('countdown'), time);
  show($('countdown'), time !== '' && isSet());
  const most = mostAtOnce(product);
  show($('quantity-box'), most > 1);
  $('quantity').max = String(most);
  enable($('buy'), isBuyable(product) && !isBusy());
}

// ---- the list ----

const onSale = pagedList((cursor, isNewest) => readPage('NOW', cursor, isNewest), (skus, next) => {
  updateRows($('product-list'), skus.map(listed));
  show($('no-products'), skus.length === 0);
  show($('more-products'), next !== null);
});
const coming = pagedList((cursor, isNewest) => readPage('SOON', cursor, isNewest), (skus, next) => {
  updateRows($('coming-list'), skus.map(listed));
  show($('coming'), skus.length > 0);
  show($('more-coming'), next !== null);
});

async function showList() {
  show($('products'), true);
  await onSale.first();
  await coming.first();
  refreshListLater();
}

function refreshListLater() {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(refreshWhenSeen, aMinute());
}

/** Not while further pages are shown: it reads the first ones. */
function refreshList() {
  if (onSale.isFirstPage() && coming.isFirstPage()) showList();
  else refreshListLater();
}

async function readPage(when, cursor, isNewest) {
  for (let attempt = 0; ; attempt++) {
    const answer = await call('GET', `api/v1/skus?when=${when}${cursor ? `&cursor=${cursor}` : ''}`);
    if (!isNewest()) return null;
    state.away = answer.status !== 200;
    show($('away'), state.away);
    write($('away'), t('pageUnavailable'));
    if (!state.away) {
      hear(answer, answer.json.serverTime);
      return {items: answer.json.skus, next: answer.json.next};
    }
    await pause(backOffMs(attempt, answer.retryAfterMs));
  }
}

function listed(sku) {
  const open = sku.state === 'OPEN' && Date.parse(sku.opensAt) <= now();
  const words = sku.soldOut ? 'soldOut' : sku.state === 'PAUSED' ? 'paused' : open ? 'onSale' : 'soon';
  const tone = sku.soldOut ? 'bad' : words === 'onSale' ? 'good' : 'warn';
  const link = make('a', {href: `?sku=${sku.skuId}`});
  link.append(
    make('strong', {textContent: sku.name}),
    make('span', {className: 'amount', textContent: money(sku.priceCents)}),
    make('span', {className: `badge ${tone}`, textContent: t(words)}),
  );
  return make('li', {}, link);
}

// ---- buying ----

/** Whether an intention is on its way or waits for its payment: until then there is no other. */
function isBusy() {
  if (state.phase === 'order') return !isFinal(state.order.status);
  return ['sending', 'busy', 'retrying', 'signedOut'].includes(state.phase);
}

function buy() {
  if (!isEnabled($('buy')) || isBusy()) return;
  const most = mostAtOnce(state.product);
  const quantity = most === 1 ? 1 : Number($('quantity').value);
  const valid = Number.isInteger(quantity) && quantity >= 1 && quantity <= most;
  write($('buy-problem'), valid ? '' : t('badQuantity', {max: most}));
  if (!valid) {
    $('quantity').setAttribute('aria-invalid', 'true');
    $('quantity').focus();
    return;
  }
  $('quantity').removeAttribute('aria-invalid');
  if (!session.user()) {
    askToSignIn(buy);
    return;
  }
  const kept = intention(state.sku, session.user());
  if (kept?.key) {
    resume(); // this page has seen no result of it: another key could make a second order
    return;
  }
  stopFollowing();
  losses = 0;
  state.wanted = intend(state.sku, session.user(), quantity);
  send();
  $('order-title').focus();
}

/** Sends the intention at hand, new or from before a reload. */
async function send() {
  const wanted = state.wanted;
  const isWanted = () => state.wanted === wanted;
  state.phase = 'sending';
  state.order = null;
  render();
  const outcome = await submit(wanted, session.token(), isWanted, (answer) => {
    if (!isWanted()) return;
    state.phase = answer.code === 'BUSY' || answer.status === 429 ? 'busy' : 'retrying';
    render();
  });
  if (!isWanted()) return;
  if (outcome.accepted) {
    state.wanted = outcome.wanted;
    watch(outcome.accepted.orderId, {
      skuId: wanted.sku, quantity: wanted.quantity, reason: null, expectedSeconds: null, payBy: null,
      ...outcome.accepted,
    });
  } else if (outcome.refused) {
    state.phase = 'refused';
    state.refusal = outcome.refused.code;
    state.wanted = null;
    render();
    refreshProduct();
    if (losses > 0) listOrders(); // the first order may have arrived after all
  } else if (outcome.signIn) {
    signInAgain(send);
  }
}

function watch(orderId, first) {
  stopFollowing();
  if (first) take(first);
  else state.phase = 'sending';
  stopFollowing = follow(orderId, session.token(), {
    onOrder: (order) => {
      losses = 0;
      take(order);
    },
    onLink: (up) => {
      state.linkUp = up;
      render();
    },
    onLost: (status) => {
      if (status === 401) {
        signInAgain(() => watch(orderId, null));
        return;
      }
      sendAgain();
    },
  });
}

/**
 * The order is not known any more. Redis may have lost it while the broker has it: only the same key makes one
 * order of both, so it is sent again, later and later, and a new purchase has to wait. Without a key there is
 * nothing to send.
 */
async function sendAgain() {
  const wanted = state.wanted;
  state.order = null;
  if (wanted && wanted.key && losses < MOST_LOSSES) {
    state.phase = 'retrying';
    render();
    await pause(backOffMs(losses++));
    if (state.wanted === wanted) send();
    return;
  }
  if (wanted) forget(wanted);
  state.wanted = null;
  state.phase = 'gone';
  render();
  listOrders();
}

/** An answer that was on its way while a newer one came. */
function isOlder({orderId, status}) {
  const rank = (one) => RANKS[one] ?? 3;
  return state.phase === 'order' && state.order?.orderId === orderId && rank(status) < rank(state.order.status);
}

function take(order) {
  if (isOlder(order)) return;
  const changed = !state.order || state.order.status !== order.status;
  state.phase = 'order';
  state.order = order;
  if (!WITHOUT_RESULT.has(order.status) && state.wanted && state.wanted.key) state.wanted = settle(state.wanted, order.orderId);
  render();
  if (!changed) return;
  $('order').scrollIntoView({block: 'nearest'});
  if (order.status !== 'QUEUED') listOrders();
}

/** Paying and cancelling may be repeated, so they are, until there is an answer. */
async function act(name, method, path) {
  if (!isEnabled($(name))) return;
  const order = state.order;
  const token = session.token();
  const acting = {name, orderId: order.orderId};
  state.acting = acting;
  state.declined = null;
  render();
  const isShown = () => !session.isOver(token) && state.order && state.order.orderId === order.orderId;
  for (let attempt = 0; isShown() && !isFinal(state.order.status); attempt++) {
    const answer = await call(method, path, {token});
    if (!isShown()) {
      listOrders(); // another order is shown by now, or the same one to a later session
      break;
    }
    if (answer.status === 200 && answer.json.orderId) {
      take(answer.json);
      break;
    }
    if (answer.status === 401) {
      signInAgain(() => watch(order.orderId, null));
      break;
    }
    if (!isUnsettled(answer)) {
      const status = answer.json.orderStatus;
      if (answer.code === 'PAYMENT_DECLINED') {
        state.declined = order.orderId;
        refreshWallet(); // it may be frozen, or have paid elsewhere
      } else if (isFinal(status)) take({...state.order, status, payBy: null});
      break; // anything else is shown by the order's own events
    }
    await pause(backOffMs(attempt, answer.retryAfterMs));
  }
  if (state.acting === acting) state.acting = null;
  render();
}

function askToCancel() {
  if (!isEnabled($('cancel'))) return;
  enableWhenSafe($('sure-yes'));
  openDialog($('sure'));
}

function dismiss() {
  stopFollowing();
  if (state.wanted) forget(state.wanted);
  Object.assign(state, {wanted: null, order: null, phase: 'idle', refusal: ''});
  render();
  $('main').focus();
  listOrders();
}

/** After a reload or a sign-in: the same intention goes on, where it was; a chosen order comes first. */
function resume(chosen) {
  const user = state.sku && session.user();
  const wanted = user && (chosen ? adopt(state.sku, user, chosen) : intention(state.sku, user));
  if (!wanted) return;
  state.wanted = wanted;
  if (wanted.orderId) watch(wanted.orderId, null);
  else send();
}

// ---- orders of this shopper ----

function listOrders() {
  refreshWallet();
  readOrders();
}

let walletMissing = false;
let ordersMissing = false;
let ordersTimer = 0;
const orders = pagedList(readOrderPage, renderOrders);

async function refreshWallet() {
  walletMissing = !(await readWallet());
  if (walletMissing) refreshOrdersLater(); // with which it is read again
}

const readOrders = repeated(async () => {
  if (session.token()) {
    refreshOrdersLater(); // also when there is no answer
    return orders.first();
  }
  ordersMissing = false;
  orders.clear();
  return true;
});

function refreshOrdersLater() {
  clearTimeout(ordersTimer);
  ordersTimer = setTimeout(refreshOrdersWhenSeen, aMinute());
}

function refreshOrdersWhenSeen() {
  whenSeen(refreshOrders);
}

/** Of the orders only the first page, so not while further ones are shown. */
function refreshOrders() {
  refreshWallet();
  if (orders.isFirstPage()) readOrders();
  else refreshOrdersLater();
}

async function readOrderPage(cursor, isNewest) {
  const token = session.token();
  const answer = await call('GET', `api/v1/orders?limit=8${cursor === null ? '' : `&cursor=${cursor}`}`, {token});
  if (!isNewest() || session.token() !== token) return null;
  if (answer.status === 401) signOut();
  if (isUnsettled(answer)) return null;
  ordersMissing = answer.json.complete === false || (cursor !== null && ordersMissing);
  return {items: answer.json.orders ?? [], next: answer.json.next ?? null};
}

function signOut() {
  session.signOut();
  render();
  listOrders(); // clears what belongs to the shopper
}

function renderOrders(items, next) {
  const current = state.order && state.order.orderId;
  const others = items.filter((order) => order.orderId !== current);
  show($('orders'), others.length > 0 || ordersMissing || next !== null);
  show($('orders-incomplete'), ordersMissing);
  show($('more-orders'), next !== null);
  updateRows($('order-list'), others.map(orderRow));
  // The order at hand is followed, and nothing happens to the others any more.
  if (!ordersMissing && !walletMissing && others.every(({status}) => isFinal(status))) clearTimeout(ordersTimer);
}

function orderRow(order) {
  const row = make('li', {}, make('span', {textContent: `SKU ${order.skuId} × ${order.quantity} · ${order.orderId}`}));
  const right = make('span', {}, make('span', {className: 'badge', textContent: t(`status${order.status}`)}));
  if (!isFinal(order.status)) {
    const button = make('button', {type: 'button', className: 'quiet', textContent: t('show')});
    button.setAttribute('aria-label', `${t('show')} ${order.orderId}`);
    button.addEventListener('click', () => showOther(order));
    right.append(button);
  }
  row.append(right);
  return row;
}

function showOther(order) {
  if (order.skuId !== state.sku) {
    location.href = `?sku=${order.skuId}#${order.orderId}`; // what is under way here goes on when this page is opened again
    return;
  }
  if (state.wanted && !state.wanted.orderId) { // its outcome is not known yet
    $('order-title').focus();
    return;
  }
  const wanted = adopt(order.skuId, session.user(), order.orderId);
  state.wanted = wanted;
  state.order = null;
  if (wanted.orderId) watch(order.orderId, order);
  else send();
  $('order-title').focus();
  listOrders();
}

// ---- signing in ----

function askToSignIn(then) {
  afterSignIn = then;
  const demo = document.documentElement.dataset.demo === 'on';
  show($('demo-fields'), demo);
  show($('token-fields'), !demo);
  if (demo && !$('user').value) $('user').value = String(1 + Math.floor(Math.random() * 999_999));
  if (!$('sign-in').open) openDialog($('sign-in'));
  $(demo ? 'user' : 'token').select();
}

function signInAgain(then) {
  const user = state.wanted && state.wanted.user;
  session.signOut();
  if (user) $('user').value = user;
  write($('sign-in-problem'), t('signInAgain'));
  askToSignIn(then);
  listOrders(); // clears what belongs to the shopper
  render();
}

/** Without a shopper nothing is sent or followed. The intention stays kept, and goes on after a sign-in. */
function signInClosed() {
  signIns++;
  if ($('sign-in').open) return;
  afterSignIn = null;
  write($('sign-in-problem'), '');
  if (session.user() || !isBusy()) return;
  stopFollowing();
  Object.assign(state, {phase: 'signedOut', order: null, wanted: {...state.wanted}}); // another object: a sending ends
  render();
}

/** Only the newest attempt of the open dialog signs in. */
async function trySignIn() {
  const mine = ++signIns;
  const isNewest = () => mine === signIns;
  const problem = await signInProblem(isNewest);
  if (isNewest()) endSignIn(problem);
}

/** @param {string} problem empty when somebody is signed in */
function endSignIn(problem) {
  write($('sign-in-problem'), problem);
  if (problem) return;
  const then = afterSignIn;
  $('sign-in').close();
  state.acting = null; // of the session before
  if (state.wanted && state.wanted.user !== session.user()) {
    stopFollowing(); // somebody else's intention stays where it is kept
    Object.assign(state, {wanted: null, order: null, phase: 'idle'});
    resume();
  } else if (then) {
    then();
  } else {
    resume(state.wanted?.orderId);
  }
  render();
  listOrders();
}

/** Empty when somebody is signed in. */
async function signInProblem(isNewest) {
  if (document.documentElement.dataset.demo !== 'on') {
    const problem = session.signIn($('token').value.trim());
    return problem && t(problem);
  }
  const user = $('user').value.trim();
  if (!/^[1-9][0-9]{0,14}$/.test(user)) return t('badNumber');
  const answer = await call('POST', 'api/v1/demo/token', {body: {userId: Number(user)}});
  return isNewest() && answer.status === 200 && !session.signIn(answer.json.token) ? '' : t('noToken');
}

/** A shop's link has the token after #, which no server or log gets. */
function signInByLink(token) {
  const problem = session.signInByLink(token);
  if (problem) askToSignIn(null);
  endSignIn(problem && t(problem));
}

function changeAccount() {
  if (!session.user()) {
    askToSignIn(null);
    return;
  }
  stopFollowing();
  session.signOut();
  Object.assign(state, {wanted: null, order: null, phase: 'idle', refusal: ''});
  render();
  listOrders();
}

// ---- the whole ----

function render() {
  const user = session.user();
  write($('account'), user ? t('signOut', {user}) : t('signIn'));
  write($('offline'), t('offline'));
  show($('offline'), !state.linkUp && state.phase === 'order' && !isFinal(state.order.status));
  if (state.sku) {
    renderProduct();
    renderOrder(state);
  }
}

/** No timer counts a sleep: what one was to read may be old by hours. */
function tick() {
  if (hasSlept()) whenSeen(catchUp);
  render();
}

function catchUp() {
  refreshOrders();
  if (!state.sku) {
    refreshList();
    return;
  }
  refreshProduct();
  if (session.user() && state.phase === 'order' && !isFinal(state.order.status)) watch(state.order.orderId, state.order);
}

function retranslate() {
  translatePage();
  write($('language'), t('otherLanguage'));
  $('language').lang = language() === 'en' ? 'zh-CN' : 'en';
  if (!state.sku) document.title = t('brand');
  renderWallet();
  render();
}

function changeQuantity(by) {
  const most = Number($('quantity').max);
  const value = Number($('quantity').value) || 1;
  $('quantity').value = String(Math.min(most, Math.max(1, value + by)));
}

function listen() {
  $('language').addEventListener('click', () => {
    switchLanguage();
    retranslate();
    listOrders();
    if (!state.sku) showList();
  });
  $('account').addEventListener('click', changeAccount);
  $('more-products').addEventListener('click', onSale.more);
  $('more-coming').addEventListener('click', coming.more);
  $('more-orders').addEventListener('click', orders.more);
  $('buy-form').addEventListener('submit', (event) => {
    event.preventDefault();
    buy();
  });
  $('less').addEventListener('click', () => changeQuantity(-1));
  $('more').addEventListener('click', () => changeQuantity(1));
  $('pay').addEventListener('click', () => act('pay', 'POST', `api/v1/orders/${state.order.orderId}/payment`));
  $('cancel').addEventListener('click', askToCancel);
  $('sure-yes').addEventListener('click', (event) => {
    if (!isEnabled($('sure-yes'))) event.preventDefault();
  });
  $('sure').addEventListener('close', () => {
    if ($('sure').returnValue === 'yes' && state.order) act('cancel', 'DELETE', `api/v1/orders/${state.order.orderId}`);
    $('sure').returnValue = '';
  });
  listenToWallet(signOut);
  $('dismiss').addEventListener('click', dismiss);
  $('sign-in-form').addEventListener('submit', (event) => {
    event.preventDefault();
    trySignIn();
  });
  $('sign-in-close').addEventListener('click', () => $('sign-in').close());
  $('sign-in').addEventListener('close', signInClosed);
  $('go-on').addEventListener('click', () => askToSignIn(null));
  addEventListener('hashchange', () => {
    if (TOKEN_IN_ADDRESS.test(location.hash)) location.reload(); // a link to the page that is open
  });
}

/** Once, and then out of the address: a reload goes on with what is kept. */
function takeFromAddress(form) {
  const taken = form.exec(location.hash)?.[1];
  if (taken) history.replaceState(null, '', location.href.split('#')[0]);
  return taken;
}

listen();
retranslate();
const chosen = takeFromAddress(ORDER_IN_ADDRESS); // on another SKU's page
const linked = takeFromAddress(TOKEN_IN_ADDRESS);
const firstRead = state.sku ? refreshProduct() : showList();
setInterval(tick, TICK_MS);
if (linked) {
  firstRead.then(() => signInByLink(linked)); // it has the server's time, by which the token may have expired
} else {
  resume(chosen);
  listOrders();
}
document.body.dataset.started = 'yes';
