// Dead letters, oldest first.

import {make} from './dom.js';
import {ask, chosenDecider, post} from './actions.js';
import {productOf} from './board.js';
import {utc} from './entries.js';
import {openList} from './open-list.js';

export const {
  listen: listenToDeadLetters,
  changed: deadLettersChanged,
  read: readDeadLetters,
} = openList('dead-letters', 'deadLetters', 'dead-letters', row);

function row(letter, context) {
  const cell = (text, className = '') => make('td', {textContent: String(text ?? '–'), className});
  const why = make('td', {}, make('strong', {textContent: letter.reason}), ` ${letter.detail}`);
  const replay = make('button', {type: 'button', textContent: 'Replay…'});
  replay.addEventListener('click', () => askToReplay(letter, context));
  const discard = make('button', {type: 'button', textContent: 'Discard…'});
  discard.addEventListener('click', () => askToDiscard(letter, context));
  return make('tr', {'data-letter': letter.id, 'data-reason': letter.reason}, cell(letter.id), cell(letter.orderId), cell(letter.skuId), why,
    cell(letter.attempts, 'n'), cell(utc(letter.lastFailedAt)), make('td', {}, replay, discard));
}

function askToReplay(letter, context) {
  ask(context, {
    title: `Replay dead letter ${letter.id}?`,
    text: 'The message goes through the broker and all guards again. If what stopped it is gone, the order is stored; if not, it comes back here.',
    yes: 'Replay',
    run: () => post(context, `admin/v1/dead-letters/${letter.id}/replay`),
    done: () => `replay dead letter ${letter.id}, order ${letter.orderId ?? 'unreadable'}`,
    what: `replay dead letter ${letter.id}`,
  });
}

function askToDiscard(letter, context) {
  ask(context, {
    title: `Discard dead letter ${letter.id}?`,
    text: whatDiscardDoes(letter),
    yes: 'Discard',
    danger: true,
    fields: [{name: 'reason', label: 'Reason', value: ''}],
    run: (values) => post(context, `admin/v1/dead-letters/${letter.id}/discard`, {reason: values.reason}),
    done: () => `discard dead letter ${letter.id}, order ${letter.orderId ?? 'unreadable'}`,
    what: `discard dead letter ${letter.id}`,
  });
}

function whatDiscardDoes({orderId, skuId, reason}) {
  if (!orderId) {
    return 'Only marks the letter as done: which order it was cannot be read, so no shopper is informed and no units go back. If it was an admitted one, Reconcile… finds it missing and sends it again.';
  }
  if (reason === 'OTHER_CONTENT') return 'Only marks the letter as done: MySQL has another order with this id, which stays as it is.';
  const product = productOf(skuId);
  if (product && chosenDecider(product) === 'MYSQL') return 'Only marks the letter as done: its sale is strong or archived, so no units were taken for this message.';
  const unless = product ? '' : ' Unless its sale is strong or archived: then it only marks the letter as done.';
  return `The order is given up for good: its shopper sees that it was rejected, and its units and quota go back on sale.${unless}`;
}
