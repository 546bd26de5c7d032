// The daily audits: read at sign-in, after an action, and every minute; as CSV on request.

import {$, make, offer, show, updateRows, write} from './dom.js';
import {askToAudit, operate, refusal} from './actions.js';
import {amount} from './entries.js';
import {pagedList} from './pages.js';
import {found} from './wallets.js';

const PAGE = 20;
const MOST = 80;
const AGAIN_MS = 60_000;
const STATES = ['confirmed', 'paid', 'cancelled', 'expired', 'rejected'];
let audits;
let shown = [];
let day = null;
let readAt = 0;
let failed = false;

export function listenToAudits(context) {
  audits = pagedList((after, isNewest) => newest(context, after, isNewest), (items, next) => {
    show($('more-audits'), next !== null);
    show($('audits-csv'), items.length > 0);
    show($('no-audits'), items.length === 0);
    shown = items;
    updateRows($('audits'), items.map((audit) => row(audit, context)));
  });
  $('more-audits').addEventListener('click', audits.more);
  $('audits-csv').addEventListener('click', () => download(context));
}

/** Reads as many as are shown, of 20 to 80. */
export function readAudits() {
  return audits.first();
}

/** Reads them if the last read has failed, or was a minute ago; not when this would show fewer. */
export function readOldAudits() {
  if (failed || (shown.length <= MOST && performance.now() - readAt > AGAIN_MS)) readAudits();
}

async function newest(context, after, isNewest) {
  const isFirst = after === null;
  failed = false;
  readAt = performance.now();
  const limit = isFirst ? Math.min(MOST, Math.max(PAGE, shown.length)) : PAGE;
  const answer = await page(context, limit, isFirst ? null : day, after);
  if (!isNewest()) return null;
  failed = answer.status !== 200;
  write($('audits-problem'), failed ? `The audits could not be read (${refusal(answer)}). Trying again…` : '');
  if (failed) return null;
  day = answer.json.day;
  write($('audits-day'), day);
  write($('wallet-check'), answer.json.wallets ? found(answer.json.wallets) : 'Not checked yet.');
  return {items: answer.json.audits, next: answer.json.next};
}

/** @param {string | null} of the day; null for the newest */
function page(context, limit, of, after) {
  const query = `limit=${limit}${of === null ? '' : `&day=${of}`}${after === null ? '' : `&after=${after}`}`;
  return operate(context, 'GET', `admin/v1/audits?${query}`);
}

function row(audit, context) {
  const cell = (text, className = '') => make('td', {textContent: String(text), className});
  const orders = (totals) => (totals.orders === totals.units ? totals.orders : `${totals.orders} (${totals.units} units)`);
  const found = audit.differences.length === 0 ? cell('None') : make('td', {}, make('strong', {textContent: audit.differences.join(' · ')}));
  const again = make('button', {type: 'button', textContent: 'Audit again…'});
  again.addEventListener('click', () => askToAudit(audit, context));
  return make('tr', {'data-audit': audit.skuId, 'data-differences': audit.differences.length}, cell(audit.skuId), cell(audit.state), cell(audit.stock, 'n'),
    ...STATES.map((state) => cell(orders(audit[state]), 'n')), cell(amount(audit.chargedCents), 'n'), cell(amount(audit.refundedCents), 'n'),
    cell(audit.repairs, 'n'), found, make('td', {}, again));
}

/** All audits of the day that is shown. */
async function download(context) {
  const of = day;
  const lines = [['day', 'sku', 'state', 'units', 'stock', ...STATES.flatMap((state) => [`${state}_orders`, `${state}_units`]),
    'charged_cents', 'refunded_cents', 'refunds_due', 'repairs', 'differences'].join(',')];
  let after = null;
  do {
    const answer = await page(context, MOST, of, after);
    write($('audits-problem'), answer.status === 200 ? '' : `No file was made (${refusal(answer)}). Try again.`);
    if (answer.status !== 200) return;
    answer.json.audits.forEach((audit) => lines.push(line(audit)));
    after = answer.json.next;
  } while (after !== null);
  offer(`${lines.join('\r\n')}\r\n`, 'text/csv', `audit-${of}.csv`);
}

/** Differences are the only free text: quoted, and never the beginning of a formula. */
function line(audit) {
  const text = audit.differences.join('; ').replaceAll('"', '""');
  return [audit.day, audit.skuId, audit.state, audit.units, audit.stock, ...STATES.flatMap((state) => [audit[state].orders, audit[state].units]),
    audit.chargedCents, audit.refundedCents, audit.refundsDue, audit.repairs, `"${text}"`].join(',');
}
