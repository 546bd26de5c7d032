// Shows what became of an intention to buy.

import {$, enable, make, SAFE_AFTER_MS, show, write} from './dom.js';
import {countdown, isSet, now} from './clock.js';
import {isFinal} from './follow.js';
import {balance} from './wallet.js';
import {money, reason, t} from './words.js';

const TONES = {CONFIRMED: 'good', PAID: 'good', REJECTED: 'bad', EXPIRED: 'bad', CANCELLED: 'still'};
const STEPS = {QUEUED: [0, 0], DELAYED: [0, 0], CONFIRMED: [2, 2], PAID: [3, 3]};

let shownSince = 0;
let announced = '';

/**
 * @param {object} state phase is sending, busy, retrying, signedOut, refused, gone or order
 */
export function renderOrder(state) {
  const {phase, order} = state;
  show($('order'), phase !== 'idle');
  if (phase === 'idle') {
    announced = '';
    return;
  }
  const status = phase === 'order' ? order.status : phase.toUpperCase();
  const message = words(state, status);
  $('order').dataset.status = status;
  $('order').dataset.tone = phase === 'refused' || phase === 'gone' ? 'bad' : TONES[status] || 'wait';
  write($('order-title'), message.title);
  write($('order-text'), message.text);
  announce(status, message);
  renderSteps(status, state.product);
  renderFacts(state);
  renderButtons(state, status);
}

function words({phase, order, product, refusal, declined}, status) {
  if (phase === 'sending') return {title: t('sending'), text: t('sendingText')};
  if (phase === 'busy') return {title: t('busy'), text: t('retryingText')};
  if (phase === 'retrying') return {title: t('retrying'), text: t('retryingText')};
  if (phase === 'signedOut') return {title: t('signedOut'), text: t('signedOutText')};
  if (phase === 'refused') return {title: t('notBought'), text: reason(refusal)};
  if (phase === 'gone') return {title: t('orderGone'), text: t('orderGoneText')};
  const values = {quantity: order.quantity, name: product ? product.name : `SKU ${order.skuId}`};
  if (status === 'REJECTED') return {title: t('rejected'), text: reason(order.reason)};
  if (status === 'CONFIRMED' && leftMs(order) <= 0) return {title: t('confirmed', values), text: t('confirmedLate')};
  if (status === 'CONFIRMED' && declined === order.orderId) return {title: t('confirmed', values), text: t('declined')};
  const name = status.toLowerCase();
  return {title: t(name, values), text: t(`${name}Text`, values)};
}

/** Spoken once for each status, and never for a place in the queue or a second gone by. */
function announce(status, {title, text}) {
  const news = `${status} ${text}`;
  if (news === announced) return;
  announced = news;
  write($('announce'), `${title}. ${text}`);
}

function renderSteps(status, product) {
  const [done, current] = STEPS[status] || [-1, -1];
  show($('steps'), done >= 0);
  show($('step-queued'), !product || product.decides !== 'MYSQL');
  ['step-queued', 'step-confirmed', 'step-paid'].forEach((id, i) => {
    $(id).classList.toggle('done', i < done);
    $(id).classList.toggle('now', i === current);
    if (i === Math.min(current, 2)) $(id).setAttribute('aria-current', 'step');
    else $(id).removeAttribute('aria-current');
  });
}

function renderFacts({phase, order, product}) {
  const facts = [];
  if (phase === 'order') {
    if (order.position !== null) facts.push(['position', String(order.position), true]);
    if (order.expectedSeconds !== null) facts.push(['expected', t('seconds', {n: Math.max(1, order.expectedSeconds)}), true]);
    if (order.payBy && isSet()) facts.push(['payWithin', countdown(leftMs(order), t('day')), true]);
    if (product) facts.push(['total', money(product.priceCents * order.quantity)]);
    facts.push(['orderNumber', order.orderId]);
  }
  const list = $('order-facts');
  const names = facts.map(([name]) => t(name)).join('|');
  if (list.dataset.names !== names) {
    list.dataset.names = names;
    list.replaceChildren(...facts.map(([name]) => make('div', {}, make('dt', {textContent: t(name)}), make('dd'))));
  }
  facts.forEach(([, value, large], i) => {
    const cell = list.children[i].lastChild;
    cell.classList.toggle('large', Boolean(large));
    write(cell, value);
  });
}

function renderButtons({phase, order, product, acting}, status) {
  const payable = status === 'CONFIRMED';
  const action = payable && acting && acting.orderId === order.orderId ? acting.name : null;
  if (payable && $('pay').hidden) shownSince = performance.now();
  const ready = performance.now() - shownSince > SAFE_AFTER_MS && !action;
  show($('pay'), payable);
  show($('cancel'), payable);
  show($('pay-balance'), payable);
  write($('pay-balance'), balance());
  show($('go-on'), phase === 'signedOut');
  show($('dismiss'), phase === 'refused' || phase === 'gone' || (phase === 'order' && isFinal(status)));
  if (!payable) return;
  enable($('pay'), ready && leftMs(order) > 0);
  enable($('cancel'), ready);
  const amount = product ? money(product.priceCents * order.quantity) : '';
  write($('pay'), action === 'pay' ? t('paying') : t('pay', {amount}).trim());
  write($('cancel'), action === 'cancel' ? t('cancelling') : t('cancel'));
}

function leftMs(order) {
  // Without a time the service decides whether it is too late.
  return order.payBy && isSet() ? Date.parse(order.payBy) - now() : Infinity;
}
