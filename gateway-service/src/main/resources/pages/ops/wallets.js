// Wallets: what their last check found; and what an operator does to a balance.

import {$} from './dom.js';
import {ask, button, newKey, post, postOnce} from './actions.js';
import {amount, MONEY} from './entries.js';

const AMOUNT = {name: 'amount', label: 'Amount, e.g. 499.00', value: '', reads: MONEY};
const REASON = {name: 'reason', label: 'Reason', value: ''};

export function listenToWallets(context) {
  $('wallet-actions').append(
    button('Check all wallets…', true, () => askToCheck(context)),
    button('Recharge…', true, () => askToMove(context, 'Recharge', {name: 'id', label: 'User, a number', value: ''},
      'Adds money that the user has paid in.', (id) => `wallets/${id}/recharges`)),
    button('Refund a charge…', true, () => askToMove(context, 'Refund', {name: 'id', label: 'Charge: the id of the order', value: ''},
      'Returns the amount to the wallet that paid, at most what is left of the charge. The order stays PAID.', (id) => `wallet/charges/${id}/refunds`)),
  );
}

/** One line about a check, which is a row of the daily audit. */
export function found({checkedAt, whole, wallets, entries, differences, detail}) {
  const what = `${whole ? 'All checked' : 'New entries checked'} at ${checkedAt.slice(0, 19).replace('T', ' ')} UTC: ${wallets} wallets, ${entries} entries`;
  return differences === 0 ? `${what}, no difference.` : `${what}. ${differences} differences: ${detail.join(' · ')}`;
}

function askToCheck(context) {
  ask(context, {
    title: 'Check all wallets?',
    text: 'Compares every balance with its entries, charges and paid orders. A wallet with a difference is frozen: it pays nothing until its changed row is restored in MySQL, and its state is ACTIVE again.',
    yes: 'Check',
    run: () => postOnce(context, 'admin/v1/wallet/check'),
    done: (answer) => `check wallets: ${found(answer.json)}`,
    what: 'check wallets',
  });
}

/** One dialog has one key: its request moves money once. */
function askToMove(context, yes, of, text, path) {
  const key = newKey();
  ask(context, {
    title: `${yes}?`,
    text,
    yes,
    fields: [of, AMOUNT, REASON],
    run: ({id, amount: amountCents, reason}) => post(context, `admin/v1/${path(encodeURIComponent(id))}`, {amountCents, reason: reason || null}, key),
    done: (answer) => `${yes.toLowerCase()}: balance ${amount(answer.json.balanceAfterCents)}`,
    what: yes.toLowerCase(),
  });
}
