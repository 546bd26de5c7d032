// A ledger as balance sheets: what came in on one side, where it is on the other.

import {$, make} from './dom.js';

const UNITS = [
  ['stock', 'Admissible in Redis'],
  ['outboxAndPrivateQueues', 'Outbox and private queues'],
  ['broker', 'Broker'],
  ['deadLetters', 'Dead letters'],
  ['confirmed', 'Confirmed, not paid'],
  ['paid', 'Paid'],
  ['compensating', 'On the way back to Redis'],
  ['changing', 'Stock change under way'],
];
const ORDERS = [
  ['outboxAndPrivateQueues', 'Outbox and private queues'],
  ['broker', 'Broker'],
  ['deadLetters', 'Dead letters'],
  ['confirmed', 'Confirmed, not paid'],
  ['paid', 'Paid'],
  ['cancelled', 'Cancelled'],
  ['expired', 'Expired'],
  ['rejected', 'Rejected'],
  ['aliases', 'Second orders of a request'],
];

/** Where units and orders of a strong sale are; the other places have something only if MySQL's tables are wrong. */
const STRONG = new Set(['stock', 'confirmed', 'paid', 'cancelled', 'expired']);

export function number(value) {
  return new Intl.NumberFormat('en').format(value);
}

/** @returns {string[]} [words, tone] for a ledger, which may be missing */
export function verdict(ledger) {
  if (!ledger) return ['no ledger', ''];
  if (!ledger.unbalancedSince) return isQueueChecked(ledger) ? ['balances', 'good'] : ['queue not checked', 'warn'];
  const seconds = (Date.parse(ledger.readAt) - Date.parse(ledger.unbalancedSince)) / 1000;
  if (seconds < 10) return ['moving', 'warn'];
  return differs(ledger) ? [`off for ${Math.round(seconds)} s`, 'bad'] : ['queue in doubt', 'warn'];
}

/** Else only a queue that has lacked orders may lack them still. */
function differs(ledger) {
  return [ledger, ...(ledger.shards ?? [])].some(({units, orders, mysql, partition, queue}) =>
    [units, orders, mysql, partition].some((terms) => terms?.difference) || queue?.difference > 0);
}

/** Those of a sale, or shard, that MySQL decides are in no queue. */
function isQueueChecked(ledger) {
  return (ledger.shards ?? [ledger]).every(({decides, queue}) => decides === 'MYSQL' || queue);
}

/** Whether MySQL decides the sale, in all of its shards. */
export function isInMySqlAlone(ledger) {
  return (ledger.shards ?? [ledger]).every(({decides}) => decides === 'MYSQL');
}

export function renderSheets(ledger) {
  const {units, orders, mysql, shards} = ledger;
  const itself = sheet('MySQL against itself', [
    ['Expected stock', mysql.expected],
    ['Stock in MySQL', mysql.stock],
  ], null, 'mysql', mysql.difference);
  $('sheets').replaceChildren(
    make('div', {}, cameIn(units), itself, ...(shards ? [stockOf(ledger)] : []), ...missing(ledger)),
    sheet('Units, where they are', rows(UNITS, units), sum(UNITS, units), 'units-out', units.difference),
    sheet(`Orders admitted: ${number(orders.admitted)}, where they are`, rows(ORDERS, orders), sum(ORDERS, orders), 'orders-out', orders.difference),
  );
}

/** The stock of a SKU that is sold in shards. */
function stockOf({units, pool, shards}) {
  const lines = shards.map((shard) => [`Shard in partition ${shard.partition.partition}`, shard.units.stock]);
  return sheet('Stock, by shard', [...lines, ['In no shard', pool]], units.stock, 'shards');
}

/** What the counters say is on its way, and is in no list or queue: of all SKUs that share them. */
function missing(ledger) {
  const sold = ledger.shards ?? [ledger];
  const lists = sold.reduce((total, {partition}) => total + (partition?.difference ?? 0), 0);
  const queues = sold.reduce((total, {queue}) => total + Math.max(0, queue?.difference ?? 0), 0);
  return lists || queues
    ? [sheet('Missing on the way, orders', [['Outbox and private queues', lists], ['Queue', queues]], null, 'missing')]
    : [];
}

/** Of a strong sale, or one in a fallback: everything is in MySQL. */
export function renderStrongSheets(ledger) {
  const {units, orders, shards} = ledger;
  const places = strong(UNITS, units).map(([name, label]) => [name, name === 'stock' ? 'Stock in MySQL' : label]);
  $('sheets').replaceChildren(
    make('div', {}, cameIn(units), ...(shards ? [stockOf(ledger)] : [])),
    sheet('Units, where they are', rows(places, units), sum(places, units), 'units-out', units.difference),
    sheet(`Orders confirmed at once: ${number(orders.admitted)}, where they are`, rows(strong(ORDERS, orders), orders), sum(ORDERS, orders), 'orders-out', orders.difference),
  );
}

function strong(terms, values) {
  return terms.filter(([name]) => STRONG.has(name) || values[name] !== 0);
}

function cameIn(units) {
  return sheet('Units that came in', [
    ['Initial stock', units.initial],
    ['Added', units.added],
    ['Withdrawn', 0 - units.withdrawn],
  ], units.initial + units.added - units.withdrawn, 'units-in');
}

function rows(terms, values) {
  return terms.map(([name, label]) => [label, values[name]]);
}

function sum(terms, values) {
  return terms.reduce((total, [name]) => total + values[name], 0);
}

function sheet(caption, lines, total, id, difference = null) {
  const table = make('table', {id}, make('caption', {textContent: caption}));
  const body = make('tbody');
  lines.forEach(([label, value]) => body.append(line(label, value, '')));
  if (total !== null) body.append(line('Sum', total, 'sum'));
  if (difference !== null) body.append(line('Difference', difference, difference === 0 ? '' : 'off'));
  table.append(body);
  return table;
}

function line(label, value, className) {
  return make('tr', {className}, make('th', {scope: 'row', textContent: label}), make('td', {textContent: number(value)}));
}
