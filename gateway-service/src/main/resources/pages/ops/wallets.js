// Wallets: what their last check found; and what an operator does to a balance.

import {$} from './dom.js';
import {ask, button, movesOnce, once, SHORT_MS} from './actions.js';
import {amount, CHANGE_OF_MONEY, MONEY, utc} from './entries.js';

const USER = {name: 'id', label: 'User, a number', value: ''};
const AMOUNT = {name: 'amount', label: 'Amount, e.g. 499.00', value: '', reads: MONEY};
const REASON = {name: 'reason', label: 'Reason', value: ''};

export function listenToWallets(context) {
  $('wallet-actions').append(
    button('Check all wallets…', true, () => askToCheck(context)),
    button('Recharge…', true, () => askToMove(context, 'Recharge', USER,
      'Adds money that the user has paid in.', (id) => `wallets/${id}/recharges`)),
    button('Refund a charge…', true, () => askToMove(context, 'Refund', {name: 'id', label: 'Charge: the id of the order', value: ''},
      'Returns the amount to the wallet that paid, at most what is left of the charge. The order stays PAID.', (id) => `wallet/charges/${id}/refunds`)),
    button('Adjust…', true, () => askToMove(context, 'Adjust', USER,
      'Corrects a balance by an amount; one below 0 takes money, at most the balance.', (id) => `wallets/${id}/adjustments`,
      {...AMOUNT, label: 'Amount, e.g. 5.00 or -5.00', reads: CHANGE_OF_MONEY})),
    button('Freeze…', true, () => askForState(context, 'Freeze', 'FROZEN', 'The wallet pays nothing until you release it. Recharges and refunds go on.')),
    button('Release…', true, () => askForState(context, 'Release', 'ACTIVE', 'The wallet pays again. The check freezes it again if its rows still differ.')),
  );
}

/** One line about a check, which is a row of the daily audit. */
export function found({checkedAt, whole, wallets, entries, differences, detail}) {
  const what = `${whole ? 'All checked' : 'New entries checked'} at ${utc(checkedAt)} UTC: ${wallets} wallets, ${entries} entries`;
  return differences === 0 ? `${what}, no difference.` : `${what}. ${differences} differences: ${detail.join(' · ')}`;
}

function askToCheck(context) {
  ask(context, {
    title: 'Check all wallets?',
    text: 'Compares every balance with its entries, charges and paid orders. A wallet with a difference is frozen: it pays nothing until its changed row is restored in MySQL, and its state is ACTIVE again.',
    yes: 'Check',
    run: () => once('POST', context, 'admin/v1/wallet/check'),
    done: (answer) => `check wallets: ${found(answer.json)}`,
    what: 'check wallets',
  });
}

function askToMove(context, yes, of, text, path, money = AMOUNT) {
  const move = movesOnce(context);
  ask(context, {
    title: `${yes}?`,
    text,
    yes,
    fields: [of, money, REASON],
    run: ({id, amount: amountCents, reason}) => move(`admin/v1/${path(encodeURIComponent(id))}`, {amountCents}, reason || null),
    done: (answer) => `${yes.toLowerCase()}: balance ${amount(answer.json.balanceAfterCents)}`,
    what: yes.toLowerCase(),
  });
}

/** Sent once: a repeat could undo what another operator has done since. */
function askForState(context, yes, state, text) {
  const what = `${yes.toLowerCase()} wallet`;
  ask(context, {
    title: `${yes} a wallet?`,
    text,
    yes,
    fields: [USER],
    run: ({id}) => once('PUT', context, `admin/v1/wallets/${encodeURIComponent(id)}/state`, {state}, SHORT_MS),
    done: (answer) => `${what}: user ${answer.json.userId} is ${answer.json.state}`,
    what,
  });
}
