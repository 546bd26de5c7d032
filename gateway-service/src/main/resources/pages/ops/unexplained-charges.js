// Unexplained charges: read when their number changes or one was closed, as dead letters are.

import {$, make, show} from './dom.js';
import {ask, post} from './actions.js';
import {call} from './api.js';
import {amount} from './entries.js';
import {pagedList} from './pages.js';

const PAGE = 20;
let seen = null;
let charges;

/** @param {number | null} open how many there are, by the stream; null when nobody knows */
export function unexplainedChargesChanged(open) {
  if (open === null || open === seen) return;
  seen = open;
  readUnexplainedCharges();
}

export function listenToUnexplainedCharges(context) {
  charges = pagedList((after) => page(context, after), (shown, next) => {
    show($('more-charges'), next !== null);
    show($('no-charges'), shown.length === 0);
    $('charges').replaceChildren(...shown.map((charge) => row(charge, context)));
  });
  $('more-charges').addEventListener('click', charges.more);
}

/** Reads the oldest ones. */
export function readUnexplainedCharges() {
  return charges.first();
}

async function page(context, after) {
  const query = `?state=OPEN&limit=${PAGE}${after === null ? '' : `&after=${after}`}`;
  const answer = await call('GET', `admin/v1/unexplained-charges${query}`, {token: context.token()});
  if (answer.status !== 200) {
    seen = null; // the next snapshot asks again
    return null;
  }
  return {items: answer.json.charges, next: answer.json.next};
}

function row(charge, context) {
  const cell = (text, className = '') => make('td', {textContent: String(text ?? '–'), className});
  const why = make('td', {}, make('strong', {textContent: charge.reason}), ` ${charge.kind ?? ''} ${charge.detail}`);
  const order = [charge.orderId, charge.orderStatus, charge.paymentState && `payment ${charge.paymentState}`].filter(Boolean).join(', ');
  const sum = charge.amountCents === null ? null : `${amount(charge.amountCents)} ${charge.currency ?? ''}`;
  const close = make('button', {type: 'button', textContent: 'Close…'});
  close.addEventListener('click', () => askToClose(charge, context));
  return make('tr', {'data-charge': charge.chargeId ?? '', 'data-reason': charge.reason}, cell(charge.chargeId), cell(order || null), cell(sum, 'n'), why,
    cell(charge.receivedAt.slice(0, 19).replace('T', ' ')), make('td', {}, close));
}

function askToClose(charge, context) {
  const name = `charge ${charge.chargeId ?? `of report ${charge.id}`}`;
  ask(context, {
    title: `Close ${name}?`,
    text: 'Only marks it as dealt with: no money is moved. Refund it at the payment provider first, or make sure that it needs no refund. Afterwards it pays for no order.',
    yes: 'Close',
    danger: true,
    fields: [{name: 'reason', label: 'What was done', value: ''}],
    run: (values) => post(context, `admin/v1/unexplained-charges/${charge.id}/close`, {reason: values.reason}),
    done: () => `close ${name}`,
    what: `close ${name}`,
  });
}
