// The shopper's own wallet: its balance, also beside the button that pays, its entries, its statement.

import {$, make, offer, show, write} from './dom.js';
import {call, isUnsettled, repeated} from './api.js';
import {now} from './clock.js';
import {pagedList} from './pages.js';
import {language, money, t} from './words.js';
import * as session from './session.js';

const PAGE = 5;
const STATEMENT_MS = 60_000;
const STATEMENT_DAYS = 90;

/** Null unless somebody is signed in who has ever had money. */
let wallet = null;
let entries = [];
let next = null;
let onExpired;

const list = pagedList(readEntries, (items, before) => {
  entries = items;
  next = before;
  renderWallet();
});

/** Reads the balance, and the newest entries if there are new ones. */
export const readWallet = repeated(async (isNewest) => {
  const token = session.token();
  if (!token) {
    wallet = null;
    list.clear();
    return true;
  }
  const answer = await call('GET', 'api/v1/wallet', {token});
  if (!isNewest() || !isForShopper(answer, token)) return true;
  if (answer.status !== 200) return !isUnsettled(answer);
  if (wallet?.userId !== answer.json.userId) list.clear();
  wallet = answer.json.seq > 0 ? answer.json : null;
  renderWallet();
  if (!hasNewEntries()) return true;
  await list.first();
  return !hasNewEntries();
});

function hasNewEntries() {
  return wallet !== null && wallet.seq > (entries[0]?.seq ?? 0);
}

/** False when nobody, or somebody else, is signed in by now; a token that has expired signs out. */
function isForShopper(answer, token) {
  if (session.token() !== token) return false;
  if (answer.status === 401) onExpired();
  return answer.status !== 401;
}

/** @param {number | null} before null for the newest */
async function readEntries(before, isNewest) {
  const token = session.token();
  const answer = await call('GET', `api/v1/wallet/entries?limit=${PAGE}${before === null ? '' : `&before=${before}`}`, {token});
  if (!isNewest() || !isForShopper(answer, token)) return null;
  if (before !== null) write($('wallet-problem'), answer.status === 200 ? '' : t('noEntries'));
  if (answer.status !== 200) return null;
  return {items: answer.json.entries, next: answer.json.next};
}

/** Empty without a wallet. */
export function balance() {
  if (!wallet) return '';
  return t(wallet.state === 'FROZEN' ? 'balanceFrozen' : 'balance', {amount: money(wallet.balanceCents, wallet.currency)});
}

export function renderWallet() {
  show($('wallet'), wallet !== null);
  if (!wallet) return;
  write($('wallet-balance'), balance());
  $('wallet-entries').replaceChildren(...entries.map(row));
  show($('more-entries'), next !== null);
}

function row({seq, kind, amountCents, balanceAfterCents, chargeId, createdAt}) {
  const time = new Intl.DateTimeFormat(language(), {dateStyle: 'medium', timeStyle: 'short'}).format(new Date(createdAt));
  const what = [time, t(`kind${kind}`), chargeId].filter(Boolean).join(' · ');
  return make('li', {'data-seq': seq}, make('span', {textContent: what}),
    make('span', {}, make('strong', {textContent: money(amountCents, wallet.currency)}), ` ${t('balance', {amount: money(balanceAfterCents, wallet.currency)})}`));
}

async function statement() {
  const token = session.token();
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  const to = day(now());
  const from = day(now() - STATEMENT_DAYS * 86_400_000);
  const answer = await call('GET', `api/v1/wallet/entries?from=${from}&to=${to}`, {token, accept: 'text/csv', timeoutMs: STATEMENT_MS});
  if (!isForShopper(answer, token)) return;
  write($('wallet-problem'), answer.status === 200 ? '' : t('noStatement'));
  if (answer.status === 200) offer(answer.text, 'text/csv', `wallet-${from}-${to}.csv`);
}

/** @param {() => void} expired signs the shopper out */
export function listenToWallet(expired) {
  onExpired = expired;
  $('more-entries').addEventListener('click', list.more);
  $('statement').addEventListener('click', statement);
}
