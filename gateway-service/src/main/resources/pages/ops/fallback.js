// Who decides the sales of Redis, what every gateway finds of it, and the operator's switch.

import {$, make, show, write} from './dom.js';
import {ask, button, once, post, put, SHORT_MS, updateButtons} from './actions.js';
import {WHOLE} from './entries.js';
import {number} from './sheet.js';

const FRESH_MS = 2_000;
const STATES = {
  REDIS: 'Redis decides its sales.',
  ENTERING: 'The fallback begins: gateways hand over what they have promised, and nobody decides.',
  MYSQL: 'MySQL decides the sales of Redis.',
  RETURNING: 'The sales return to Redis, one after the other.',
};

/** The fallback as it was last known: the buttons outlive what they were made of. */
let shown = null;

/** @param {object | null} fallback as order-consumer tells it; null when it does not */
export function renderFallback(fallback, context) {
  show($('fallback-switch'), Boolean(fallback));
  if (!fallback) {
    write($('fallback-state'), 'order-consumer does not tell.');
    $('fallback-state').className = '';
    $('gateways').replaceChildren();
    $('fallback-sales').replaceChildren();
    return;
  }
  const {mode, state, term, startedBy, changedAt, salesOfRedis, salesInFallback, reservedUnits, sales} = fallback;
  const since = state === 'REDIS' ? '' : ` Fallback ${term}, started by ${startedBy}, since ${changedAt.slice(11, 19)} UTC.`;
  write($('fallback-state'), mode === 'off' && state === 'REDIS' ? 'It is switched off (seckill.fallback): while Redis is away, its sales are answered 503.' : `${STATES[state]}${since}${isIncomplete(fallback) ? ` Sales extended meanwhile that are not in it: ${number(salesOfRedis)}. Enter it again for them.` : ''}`);
  $('fallback-state').className = `verdict ${state === 'REDIS' ? '' : 'warn'}`;
  renderButtons(fallback, context);
  $('gateways').replaceChildren(...fallback.gateways.map(gatewayRow));
  const lines = sales.map((sale) => `SKU ${sale.skuId}: ${sale.fallback.toLowerCase()}, ${number(sale.reservedUnits)} units reserved`);
  const more = salesInFallback - sales.length;
  if (more > 0) lines.push(`and ${number(more)} more; ${number(reservedUnits)} units are reserved in all`);
  $('fallback-sales').replaceChildren(...lines.map((textContent) => make('li', {textContent})));
}

/** Whether sales that were over when the fallback began have been extended since: Redis decides them. */
function isIncomplete({mode, state, salesOfRedis}) {
  return mode !== 'off' && state === 'MYSQL' && salesOfRedis > 0;
}

function gatewayRow(node) {
  const fresh = node.heardMsAgo <= FRESH_MS;
  const usable = node.redis === 'USABLE';
  const row = make('tr', {'data-gateway': node.name}, make('td', {textContent: node.name}),
    make('td', {}, make('span', {className: `badge ${usable ? 'good' : 'bad'}`, textContent: usable ? 'usable' : 'unusable'})),
    make('td', {textContent: node.breaker.toLowerCase().replace('_', ' ')}));
  const heard = fresh ? 'now' : `${Math.round(node.heardMsAgo / 1000)} s ago`;
  [`${Math.round(node.forMs / 1000)} s`, `${node.failurePercent} %`, number(node.failuresPerSecond), heard]
    .forEach((text) => row.append(make('td', {className: 'n', textContent: text})));
  return row;
}

function renderButtons(fallback, context) {
  const {mode, state, sales} = fallback;
  shown = fallback;
  updateButtons($('fallback-switch'), [
    button('Enter fallback…', mode !== 'off' && (isIncomplete(fallback) || ['REDIS', 'RETURNING'].includes(state)), () => askToEnter(context)),
    button('Return to Redis…', state === 'MYSQL', () => ask(context, {
      title: 'Let Redis decide its sales again?',
      text: 'Each sale is loaded into Redis from MySQL, one after the other, once no order of it is in Redis or RabbitMQ any more. A sale pauses for about a second meanwhile.',
      yes: 'Return to Redis',
      run: () => once('POST', context, 'admin/v1/fallback/leave', undefined, SHORT_MS),
      done: (answer) => `fallback ${answer.json.term}: ${answer.json.state}`,
      what: 'leave fallback',
    })),
    ...sales.filter(({reservedUnits}) => reservedUnits > 0).map(({skuId}) =>
      button(`Release the reserve of SKU ${skuId}…`, true, () => askToRelease(skuId, context))),
    button('Thresholds…', true, () => ask(context, {
      title: 'When do gateways stop calling Redis?',
      text: 'A gateway stops when within a second at least this share of its calls fail, and at least so many.',
      yes: 'Change',
      fields: [
        {name: 'failurePercent', label: 'Failed calls, percent, 1 to 100', value: shown.failurePercent, reads: WHOLE},
        {name: 'failuresPerSecond', label: 'and failed calls a second, from 1', value: shown.failuresPerSecond, reads: WHOLE},
      ],
      run: (values) => put(context, 'admin/v1/fallback/settings', values),
      done: ({json}) => `thresholds: ${json.failurePercent} % and ${json.failuresPerSecond} a second`,
      what: 'thresholds',
    })),
  ]);
}

function askToEnter(context) {
  const again = isIncomplete(shown);
  ask(context, {
    title: 'Let MySQL decide the sales of Redis?',
    text: `${again ? 'The sales that Redis still decides' : 'All running sales'} stop for up to three seconds, or up to fifteen if gateways have many orders to hand over that MySQL does not have yet. Then MySQL confirms each purchase in its answer: fewer a second. ${again ? 'It ends as it was to end before.' : 'It lasts until you return to Redis.'}`,
    yes: 'Enter fallback',
    danger: true,
    run: () => once('POST', context, 'admin/v1/fallback/enter', undefined, SHORT_MS),
    done: (answer) => `fallback ${answer.json.term} entered`,
    what: 'enter fallback',
  });
}

function askToRelease(skuId, context) {
  const {reservedUnits} = shown.sales.find((sale) => sale.skuId === skuId);
  ask(context, {
    title: `Sell the ${number(reservedUnits)} reserved units of SKU ${skuId}?`,
    text: 'They are kept for orders that Redis may have promised and nobody has handed over. Released, they are on sale, and such orders are rejected if they come out of Redis when the stock is gone. Do it when Redis will not come back with its data.',
    yes: 'Release the reserve',
    danger: true,
    run: () => post(context, `admin/v1/skus/${skuId}/release-reserve`),
    done: () => `reserve of SKU ${skuId} released`,
    what: `release the reserve of SKU ${skuId}`,
  });
}
