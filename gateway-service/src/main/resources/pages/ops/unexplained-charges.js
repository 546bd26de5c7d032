// Unexplained charges, oldest first.

import {make} from './dom.js';
import {ask, post} from './actions.js';
import {amount, utc} from './entries.js';
import {openList} from './open-list.js';

export const {
  listen: listenToUnexplainedCharges,
  changed: unexplainedChargesChanged,
  read: readUnexplainedCharges,
} = openList('unexplained-charges', 'charges', 'charges', row);

function row(charge, context) {
  const cell = (text, className = '') => make('td', {textContent: String(text ?? '–'), className});
  const why = make('td', {}, make('strong', {textContent: charge.reason}), ` ${charge.kind ?? ''} ${charge.detail}`);
  const order = [charge.orderId, charge.orderStatus, charge.paymentState && `payment ${charge.paymentState}`].filter(Boolean).join(', ');
  const sum = charge.amountCents === null ? null : `${amount(charge.amountCents)} ${charge.currency ?? ''}`;
  const close = make('button', {type: 'button', textContent: 'Close…'});
  close.addEventListener('click', () => askToClose(charge, context));
  return make('tr', {'data-report': charge.id, 'data-charge': charge.chargeId ?? '', 'data-reason': charge.reason}, cell(charge.chargeId), cell(order || null), cell(sum, 'n'), why,
    cell(utc(charge.receivedAt)), make('td', {}, close));
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
