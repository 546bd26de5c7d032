// One order of any shopper, by its number.

import {$, write} from './dom.js';
import {operate, refusal} from './actions.js';
import {amount, utc} from './entries.js';

let newest = 0; // look-up

export function listenToOrder(context) {
  $('order-form').addEventListener('submit', (event) => {
    event.preventDefault();
    lookUp($('order-id').value.trim(), context);
  });
}

async function lookUp(id, context) {
  const mine = ++newest;
  write($('order-found'), '');
  if (!id) return;
  const answer = await operate(context, 'GET', `admin/v1/orders/${encodeURIComponent(id)}`);
  if (mine === newest) write($('order-found'), answer.status === 200 ? line(answer.json) : refusal(answer));
}

function line({orderId, status, reason, userId, skuId, quantity, unitPriceCents, admittedAt, createdAt, updatedAt, paymentState, chargeId}) {
  const times = [['admitted', admittedAt], ['stored', createdAt], ['changed', updatedAt]]
    .map(([what, at]) => `${what} ${utc(at)}`).join(', ');
  return [
    [`Order ${orderId} is ${status}`, reason].filter(Boolean).join(', '),
    `user ${userId}`,
    `SKU ${skuId} × ${quantity} at ${amount(unitPriceCents)}`,
    `${times} UTC`,
    [`payment ${paymentState ?? 'not begun'}`, chargeId].filter(Boolean).join(', charge '),
  ].join(' · ');
}
