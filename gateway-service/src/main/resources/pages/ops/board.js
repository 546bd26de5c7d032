// Shows a snapshot: services, tiles, sales, the chosen sale, lanes, queues, outboxes.

import {$, make, show, updateChildren, write} from './dom.js';
import {actionButtons, isStrong, operate, refusal, updateButtons} from './actions.js';
import {renderFallback} from './fallback.js';
import {isInMySqlAlone, number, renderSheets, renderStrongSheets, verdict} from './sheet.js';

const NAMES = {redis: 'Redis', mysql: 'MySQL', broker: 'RabbitMQ', consumer: 'order-consumer', relay: 'relay-service'};
const HOLDERS = {REDIS: 'Redis has', REPLICAS: 'replicas of Redis have', BROKER: 'RabbitMQ has'};
const LANES_SHOWN = 40;
/** Of a snapshot. */
const MOST_SALES = 200;
const AGAIN_MS = 60_000;
/** Work that waits in MySQL, and the age from which it waits too long: that of its alert. */
const PENDING = [
  ['REFUNDS', 'Refunds due', 300],
  ['COMPENSATIONS', 'Units not back in Redis', 60],
  ['EXPIRIES', 'Orders due to expire', 60],
  ['UNEXPLAINED_CHARGES', 'Unexplained charges', 0],
  ['ARCHIVES', 'Archives under way', 900],
];

/** By the words of its verdict. Any other is off, without its seconds: a screen reader speaks each change. */
const LEDGERS = {
  moving: 'moves: orders are between two counters',
  balances: 'balances: every unit and every order is accounted for',
  'queue not checked': 'balances, but its queue was not checked',
  'queue in doubt': 'balances, but its queue may still lack orders: wait until it is empty',
};
const STATES = {UP: ['up', 'good'], DEGRADED: ['up in part', 'bad'], DOWN: ['unavailable', 'bad'], UNKNOWN: ['not known', '']};

let chosen = null;
/** The product of the sale that is shown, as it was last known: the buttons outlive what they were made of. */
let shown = null;
/** The ledger of a chosen sale, as it was last known. */
let known = null;
/** The sale that is being read because the snapshot lacks it or its ledger. */
let reading = null;
/** As they were last known. */
let products = [];

export function renderBoard(snapshot, rates, context) {
  renderServices(snapshot);
  renderStops(snapshot.stops);
  renderLinks(snapshot.links);
  renderTiles(snapshot, rates);
  renderExtent(snapshot);
  renderSales(snapshot, context);
  renderFallback(snapshot.fallback, context);
  renderLanes(snapshot.lanes);
  renderQueues(snapshot);
}

function renderServices({services, durableIn, lanes}) {
  const entries = Object.entries(services);
  $('services').replaceChildren(
    ...entries.map(([name, state]) => {
      const [text, className] = STATES[state];
      return make('li', {className, 'data-service': name, 'data-state': state, textContent: `${NAMES[name]}: ${text}`});
    }),
    make('li', {'data-durable': durableIn, textContent: `"queued" is answered once ${HOLDERS[durableIn]} the order`}),
  );
  const away = entries.filter(([, state]) => state === 'DOWN').map(([name]) => NAMES[name]);
  const lines = [];
  if (away.length > 0) {
    lines.push(`${away.join(', ')} ${away.length === 1 ? 'does' : 'do'} not answer. Figures that need ${away.length === 1 ? 'it' : 'them'} are missing.`);
  }
  const refusing = lanes?.refusing ?? []; // which a gateway of the former release does not send
  if (refusing.length > 0) {
    lines.push(`Redis takes no writes${refusing.length < lanes.outboxes.length ? ` for partitions ${refusing.join(', ')}` : ''}.`);
  }
  if (lanes?.unavailable.length > 0) {
    lines.push(`Redis does not answer for partitions ${lanes.unavailable.join(', ')}. Figures are without them.`);
  }
  write($('away'), lines.join(' '));
  show($('away'), lines.length > 0);
}

/** Stops that Redis obeys already. While Redis does not tell, what was known of them stays. */
function renderStops(stops) {
  if (!stops) return;
  const lines = stops.map(({skuId, state, operator, askedAt}) =>
    `SKU ${skuId} is ${state} in Redis, as ${operator} asked at ${new Date(askedAt).toJSON()?.slice(11, 19) ?? '?'} UTC.`);
  write($('stops'), `${lines.join(' ')} MySQL follows as soon as it and order-consumer answer.`);
  show($('stops'), stops.length > 0);
}

function renderLinks(links) {
  for (const [id, address] of [['broker-ui', links.brokerUi], ['grafana', links.grafana]]) {
    show($(id), Boolean(address));
    if (address) $(id).href = address;
  }
}

function renderTiles(snapshot, rates) {
  const {services, lanes, clickToRow, deadLetters, pendingWork} = snapshot;
  const rate = (name) => (rates ? `${+rates[name].toFixed(rates[name] < 10 ? 1 : 0)}` : '–');
  const outbox = lanes && total(lanes.outboxes, 'orders');
  const oldest = lanes && Math.max(0, ...lanes.outboxes.map((one) => one.oldestMs));
  const privates = lanes && total(lanes.lanes, 'privateQueue');
  const queues = queuesOf(snapshot);
  tiles([
    ['Admitted / s', rate('admitted'), ''],
    ['Published / s', rate('published'), ''],
    ['Stored / s', rate('stored'), ''],
    ['Rejected / s', rate('rejected'), ''],
    ['Outbox', lanes ? number(outbox) : '–', lanes ? `oldest ${duration(oldest)}` : '', oldest > 10_000],
    ['Private queues', lanes ? number(privates) : '–', lanes ? `${alive(lanes)} lanes alive` : ''],
    ['Broker ready', queues ? number(total(queues, 'ready')) : '–', queues ? `messages, ${number(total(queues, 'unacked'))} orders unacked` : ''],
    ['Click to row p50', clickToRow ? duration(clickToRow.p50Ms) : '–', clickToRow ? `p99 ${duration(clickToRow.p99Ms)}` : services.mysql === 'UP' ? 'no order this minute' : ''],
    ['Dead letters', deadLetters === null ? '–' : number(deadLetters), 'open', deadLetters > 0],
    ...PENDING.map(([kind, name, lateSeconds]) => pendingTile(name, pendingWork && pendingWork[kind], lateSeconds)),
  ]);
}

function pendingTile(name, work, lateSeconds) {
  if (!work) return [name, '–', ''];
  return [name, number(work.number), work.number > 0 ? `oldest ${duration(work.oldestSeconds * 1000)}` : '', work.number > 0 && work.oldestSeconds >= lateSeconds];
}

/** Rates, queues and balances are sums over the ledgers that came: with fewer than all, it is said of how many. */
function renderExtent({skus, ledgers}) {
  const preheated = skus ? skus.filter((sku) => sku.state !== 'NEW').length : 0;
  write($('extent'), `Rates, broker and ledgers: ${ledgers.length} of ${preheated} SKUs, open sales first.`);
  show($('extent'), ledgers.length < preheated);
}

function tiles(values) {
  const list = $('tiles');
  if (list.children.length !== values.length) {
    list.replaceChildren(...values.map(([name]) => make('div', {}, make('dt', {textContent: name}), make('dd'), make('dd'))));
  }
  values.forEach(([, value, more, bad], i) => {
    const [, large, small] = list.children[i].children;
    write(large, value);
    write(small, more);
    list.children[i].className = bad ? 'bad' : '';
  });
}

function renderSales(snapshot, context) {
  const ledgers = new Map(snapshot.ledgers.map((ledger) => [ledger.skuId, ledger]));
  if (snapshot.skus) products = withMore(snapshot.skus);
  else if (products.length === 0) return;
  show($('no-sales'), products.length === 0);
  reconcileRows($('sales-rows'), products, (sku) => sku.skuId, (sku) => saleRow(sku, context), (row, sku) => fillSale(row, sku, ledgers.get(sku.skuId)));
  if (chosen === null && products.length > 0) chosen = products[0].skuId;
  const product = productOf(chosen);
  known = ledgers.get(chosen) ?? known;
  if (product) renderSale(product, known?.skuId === chosen ? known : null, context);
  if (product && (ledgers.has(chosen) || product.state === 'NEW')) reading = null;
  else if (chosen !== null) readChosen(snapshot.services.consumer, context);
}

/** The chosen sale, when it or its ledger is not in the snapshot: of many, the closed ones come last. */
async function readChosen(consumer, context) {
  const skuId = chosen;
  if (reading === skuId) return;
  reading = skuId;
  const read = (path) => operate(context, 'GET', `admin/v1/skus/${skuId}${path}`);
  const [answer, ledger] = await Promise.all([
    productOf(skuId) ? null : read(''),
    consumer === 'UP' ? read('/ledger') : null, // else it would be waited for in vain
  ]);
  if (reading !== skuId) return; // another one was chosen, or a later snapshot is complete
  reading = null;
  known = ledger?.status === 200 ? ledger.json : null;
  const product = productOf(skuId) ?? (answer?.status === 200 ? answer.json : null);
  if (product) renderSale(product, known, context);
}

/** Undefined for a sale that is not listed. */
export function productOf(skuId) {
  return products.find((product) => product.skuId === skuId);
}

/** Behind the sales of each snapshot, as many further pages as were asked for, as they were a minute ago at most. */
const further = {pages: 0, skus: [], ended: false, reads: 0, readAt: 0};

function withMore(skus) {
  show($('more-sales'), skus.length >= MOST_SALES && !further.ended);
  const all = new Map(skus.map((sku) => [sku.skuId, sku]));
  further.skus.filter((sku) => !all.has(sku.skuId)).forEach((sku) => all.set(sku.skuId, sku));
  return [...all.values()];
}

export function listenToMoreSales(context) {
  $('more-sales').addEventListener('click', () => readMoreSales(context, further.pages + 1));
}

/** Reads the further pages again a minute after they were read. */
export function readOldSales(context) {
  if (performance.now() - further.readAt > AGAIN_MS) readMoreSales(context);
}

/** Reads the further pages, all of them again: sales move between pages. */
export async function readMoreSales(context, pages = further.pages) {
  if (pages === 0) return;
  const mine = ++further.reads;
  further.readAt = performance.now();
  const skus = [];
  let cursor = '';
  for (let page = 0; page <= pages && cursor !== null; page++) {
    const answer = await operate(context, 'GET', `admin/v1/skus${cursor && `?cursor=${cursor}`}`);
    if (mine !== further.reads) return;
    write($('sales-problem'), answer.status === 200 ? '' : `No more sales could be read (${refusal(answer)}). Try again.`);
    if (answer.status !== 200) return;
    if (page > 0) skus.push(...answer.json.skus);
    cursor = answer.json.next;
  }
  Object.assign(further, {pages, skus, ended: cursor === null});
  context.again();
}

function saleRow(sku, context) {
  const choose = make('button', {type: 'button', className: 'link', textContent: String(sku.skuId)});
  choose.setAttribute('aria-label', `Show SKU ${sku.skuId}`);
  choose.addEventListener('click', () => {
    chosen = sku.skuId;
    context.again();
    $('sale').scrollIntoView({block: 'nearest'});
  });
  const row = make('tr', {}, make('td', {}, choose));
  ['', '', '', 'n', 'n', 'n', ''].forEach((className) => row.append(make('td', {className})));
  return row;
}

function fillSale(row, sku, ledger) {
  const [, name, state, decides, stock, way, sold, balance] = row.children;
  row.className = sku.skuId === chosen ? 'chosen' : '';
  write(name, sku.name);
  badge(state, sku.state, {OPEN: 'good', PAUSED: 'warn', PREHEATED: 'warn'}[sku.state] || '');
  write(decides, isStrong(sku) ? 'MySQL' : 'Redis');
  write(stock, number(ledger ? ledger.units.stock : sku.stock));
  write(way, ledger && !isInMySqlAlone(ledger) ? number(ledger.orders.outboxAndPrivateQueues + ledger.orders.broker) : '–');
  write(sold, ledger ? number(ledger.units.confirmed + ledger.units.paid) : '–');
  if (sku.state === 'NEW') badge(balance, 'not preheated', '');
  else badge(balance, ...verdict(ledger));
}

function badge(cell, text, tone) {
  const inner = cell.firstElementChild || cell.appendChild(make('span'));
  inner.className = `badge ${tone}`;
  write(inner, text);
}

function renderSale(product, ledger, context) {
  shown = product;
  show($('sale'), true);
  write($('sale-title'), `SKU ${product.skuId} · ${product.name}`);
  write($('sale-facts'), `${product.state} · epoch ${product.epoch} · ${product.policy}${product.limitPerUser ? ` ${product.limitPerUser}` : ''} · decided by ${isStrong(product) ? 'MySQL, confirmed at once' : 'Redis'}${product.shards > 1 ? `, in ${product.shards} shards` : ''} · ${product.opensAt.replace('T', ' ')} to ${product.closesAt.replace('T', ' ')}`);
  updateButtons($('actions'), actionButtons(product, () => shown, context));
  const [words, tone] = ledger ? verdict(ledger) : [product.state === 'NEW' ? 'not preheated yet' : 'no ledger at the moment', ''];
  write($('ledger-verdict'), ledger ? `The ledger ${LEDGERS[words] ?? 'is off: reconcile, and see docs/operations.md'}` : `The ledger: ${words}`);
  $('ledger-verdict').className = `verdict ${tone}`;
  if (ledger) (isInMySqlAlone(ledger) ? renderStrongSheets : renderSheets)(ledger);
  else $('sheets').replaceChildren();
}

function renderLanes(lanes) {
  if (!lanes) {
    write($('lanes-sum'), 'Redis does not tell.');
    $('lanes').replaceChildren();
    return;
  }
  const owners = [...new Set(lanes.lanes.filter((lane) => lane.state === 'ALIVE').map((lane) => lane.relay))];
  const gateways = owners.filter((owner) => owner.startsWith('gateway@')).length;
  const relays = owners.length - gateways;
  const count = (state) => lanes.lanes.filter((lane) => lane.state === state).length;
  write($('lanes-sum'), `${alive(lanes)} alive in ${relays} ${relays === 1 ? 'relay' : 'relays'}${gateways ? ` and ${gateways} ${gateways === 1 ? 'gateway' : 'gateways'}` : ''}, ${count('LAPSED')} lapsed, ${count('DEAD')} dead and still swept.`);
  const rank = (lane) => (lane.state === 'LAPSED' ? 0 : lane.privateQueue > 0 ? 1 : lane.state === 'ALIVE' ? 2 : 3);
  const rows = [...lanes.lanes].sort((a, b) => rank(a) - rank(b) || a.partition - b.partition).slice(0, LANES_SHOWN);
  reconcileRows($('lanes'), rows, (lane) => `${lane.relay}:${lane.lane}:${lane.token}`, laneRow, (row, lane) => {
    badge(row.children[3], lane.state.toLowerCase(), {ALIVE: 'good', LAPSED: 'bad'}[lane.state] || '');
    write(row.children[4], lane.state === 'DEAD' ? '–' : `${(lane.leaseLeftMs / 1000).toFixed(1)} s`);
    write(row.children[5], number(lane.privateQueue));
  });
}

function laneRow(lane) {
  const cells = [lane.relay, lane.lane, lane.partition, '', '', ''];
  return make('tr', {}, ...cells.map((text, i) => make('td', {textContent: String(text), className: i > 3 ? 'n' : ''})));
}

function renderQueues(snapshot) {
  const queues = queuesOf(snapshot) || [];
  reconcileRows($('queues'), queues, (queue) => queue.queue, (queue) => plainRow(queue.queue), (row, queue) => {
    write(row.children[1], number(queue.ready));
    write(row.children[2], number(queue.unacked));
  });
  const outboxes = snapshot.lanes ? snapshot.lanes.outboxes.filter((one) => one.orders > 0) : [];
  show($('no-outboxes'), Boolean(snapshot.lanes) && outboxes.length === 0);
  reconcileRows($('outboxes'), outboxes, (one) => one.partition, (one) => plainRow(one.partition), (row, one) => {
    write(row.children[1], number(one.orders));
    write(row.children[2], duration(one.oldestMs));
  });
}

function plainRow(name) {
  return make('tr', {}, make('td', {textContent: String(name)}), make('td', {className: 'n'}), make('td', {className: 'n'}));
}

/** One entry for each queue that a ledger speaks of; null when none does. */
function queuesOf(snapshot) {
  const queues = new Map();
  snapshot.ledgers.flatMap((ledger) => ledger.shards ?? [ledger]).forEach(({queue}) => queue && queues.set(queue.queue, queue));
  return queues.size === 0 ? null : [...queues.values()].sort((a, b) => a.queue.localeCompare(b.queue));
}

/** Keeps rows that stay, so that focus and selection do. */
function reconcileRows(body, items, keyOf, create, fill) {
  const old = new Map([...body.children].map((row) => [row.dataset.key, row]));
  const rows = items.map((item) => {
    const key = String(keyOf(item));
    const row = old.get(key) || create(item);
    row.dataset.key = key;
    fill(row, item);
    return row;
  });
  updateChildren(body, rows);
}

function alive(lanes) {
  return lanes.lanes.filter((lane) => lane.state === 'ALIVE').length;
}

function total(list, member) {
  return list.reduce((sum, one) => sum + one[member], 0);
}

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
