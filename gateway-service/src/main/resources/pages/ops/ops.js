// The operations page: one stream of snapshots, and what an operator does.

import {$, show, write} from './dom.js';
import {backOffMs, call, isToken, pause, stream} from './api.js';
import {askForProduct, listenToConfirmation, refusal} from './actions.js';
import {draw, drawLegend} from './chart.js';
import {history, measure} from './rates.js';
import {deadLettersChanged, listenToDeadLetters, readDeadLetters} from './dead-letters.js';
import {listenToUnexplainedCharges, readUnexplainedCharges, unexplainedChargesChanged} from './unexplained-charges.js';
import {listenToAudits, readAudits, readOldAudits} from './audits.js';
import {listenToWallets} from './wallets.js';
import {listenToOrder} from './order.js';
import {listenToMoreSales, readMoreSales, readOldSales, renderBoard} from './board.js';

const STORE = 'seckill.operator';
const LIMITS = {firstMs: 10_000, silenceMs: 10_000};
const FRESH_MS = 7_000;

let latest = null;
let rates = null;
let receivedAt = 0;
let stop = new AbortController();
let signIns = 0; // attempts; signing out ends the one under way

const context = {
  token: () => sessionStorage.getItem(STORE),
  changed: () => Promise.all([readDeadLetters(), readUnexplainedCharges(), readAudits(), readMoreSales(context)]),
  again: () => latest && renderBoard(latest, rates, context),
  signInAgain: () => signOut('The token does not hold any more. Sign in again.'),
};

/** Watches until somebody signs out; a stream that broke is opened again, later and later. */
async function watch() {
  stop.abort();
  stop = new AbortController();
  const {signal} = stop;
  for (let failures = 0; !signal.aborted; failures++) {
    const answer = await stream('admin/v1/events', context.token(), signal, (name, snapshot) => {
      failures = 0;
      take(snapshot);
    }, LIMITS);
    if (signal.aborted) return;
    if (answer.status === 401 || answer.status === 403) {
      context.signInAgain();
      return;
    }
    if (!receivedAt) sayWhyEmpty(answer);
    await pause(backOffMs(Math.min(failures, 4), answer.retryAfterMs));
  }
}

/** Before the first snapshot there is nothing else on the board. */
function sayWhyEmpty(answer) {
  const why = answer.status === 200 ? 'none came in time' : refusal(answer);
  write($('away'), `The gateway sends no figures (${why}). Trying again…`);
  show($('away'), true);
}

function take(snapshot) {
  latest = snapshot;
  receivedAt = performance.now();
  rates = measure(snapshot);
  renderBoard(snapshot, rates, context);
  deadLettersChanged(snapshot.deadLetters);
  unexplainedChargesChanged(snapshot.pendingWork ? snapshot.pendingWork.UNEXPLAINED_CHARGES.number : null);
  readOldAudits();
  readOldSales(context);
  draw(history);
  document.body.dataset.live = 'yes';
}

/**
 * The gateway itself may be away: then nothing arrives to say so. The age stands beside the alert, which a screen reader
 * speaks each time it changes.
 */
function watchdog() {
  const ageMs = performance.now() - receivedAt;
  const old = Boolean(context.token() && receivedAt) && ageMs >= FRESH_MS;
  show($('age'), old);
  if (!old) return;
  document.body.dataset.live = 'no';
  write($('away'), 'The gateway does not answer: what you see is old.');
  show($('away'), true);
  write($('age'), `The last figures came ${Math.round(ageMs / 1000)} s ago.`);
}

function signedIn() {
  const known = Boolean(context.token());
  show($('sign-in'), !known);
  show($('board'), known);
  show($('sign-out'), known);
  show($('demo'), document.documentElement.dataset.demo === 'on');
  if (known) {
    readAudits();
    watch();
  } else $('token').focus();
}

async function trySignIn(token) {
  if (!isToken(token)) {
    write($('sign-in-problem'), 'This is no token.');
    return;
  }
  const mine = ++signIns;
  const answer = await call('GET', 'admin/v1/skus', {token});
  if (mine !== signIns) return;
  if (answer.status === 401 || answer.status === 403) {
    write($('sign-in-problem'), answer.json.detail || answer.json.title || 'The token does not hold.');
    return;
  }
  if (answer.status === 0) {
    write($('sign-in-problem'), 'The gateway does not answer.');
    return;
  }
  write($('sign-in-problem'), '');
  $('token').value = '';
  sessionStorage.setItem(STORE, token);
  signedIn();
}

async function demoToken() {
  const mine = ++signIns;
  const answer = await call('POST', 'admin/v1/demo/token');
  if (mine !== signIns) return;
  if (answer.status === 200) trySignIn(answer.json.token);
  else write($('sign-in-problem'), 'No token could be had.');
}

function signOut(why) {
  signIns++;
  stop.abort();
  $('confirm').close();
  sessionStorage.removeItem(STORE);
  latest = null;
  receivedAt = 0;
  show($('away'), false);
  show($('stops'), false);
  $('services').replaceChildren();
  write($('sign-in-problem'), why);
  signedIn();
}

$('sign-in-form').addEventListener('submit', (event) => {
  event.preventDefault();
  trySignIn($('token').value.trim());
});
$('demo').addEventListener('click', demoToken);
$('sign-out').addEventListener('click', () => signOut(''));
$('new-sku').addEventListener('click', () => askForProduct(null, context));
addEventListener('resize', () => draw(history));
listenToConfirmation();
listenToMoreSales(context);
listenToDeadLetters(context);
listenToUnexplainedCharges(context);
listenToAudits(context);
listenToWallets(context);
listenToOrder(context);
drawLegend();
signedIn();
setInterval(watchdog, 1000);
document.body.dataset.started = 'yes';
