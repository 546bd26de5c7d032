// Orders per second from the counters of two snapshots.

const KEPT_MS = 300_000;
const SPAN_MS = 4_000;
const LEAP_MS = 30_000; // far beyond the time between two snapshots

/** What is shown, each with its colour and a pattern for those who tell colours apart badly. */
export const SERIES = [
  {name: 'admitted', color: '#1d4ed8', dash: []},
  {name: 'published', color: '#7a4b00', dash: [6, 3]},
  {name: 'stored', color: '#1b6b3a', dash: [2, 2]},
  {name: 'rejected', color: '#a3182b', dash: [8, 2, 2, 2]},
];

const snapshots = [];
export const history = [];

/** Takes a snapshot; its rates are over the last few seconds, and null before there are two. */
export function measure(snapshot) {
  const at = Date.parse(snapshot.at);
  const passed = snapshots.length > 0 ? at - snapshots.at(-1).at : 0;
  if (passed < 0) history.length = 0; // of another gateway, whose clock is behind
  if (passed < 0 || passed > LEAP_MS) snapshots.length = 0; // or ahead
  const counts = new Map(snapshot.ledgers.map((ledger) => [ledger.skuId, counters(ledger)]));
  snapshots.push({at, counts});
  while (snapshots.length > 2 && at - snapshots[1].at >= SPAN_MS) snapshots.shift();
  const rates = snapshots.length < 2 ? null : between(snapshots[0], snapshots.at(-1));
  if (rates) history.push({at, ...rates});
  while (history.length > 0 && at - history[0].at > KEPT_MS) history.shift();
  return rates;
}

function counters({decides, orders}) {
  const stored = orders.confirmed + orders.paid + orders.cancelled + orders.expired;
  return {
    admitted: orders.admitted,
    published: decides === 'MYSQL' ? 0 : orders.admitted - orders.outboxAndPrivateQueues,
    stored,
    rejected: orders.rejected,
  };
}

/** Only of SKUs in both; a preheat starts counters anew, which is no negative rate. */
function between(first, last) {
  const seconds = Math.max(0.001, (last.at - first.at) / 1000);
  const rates = {};
  for (const {name} of SERIES) {
    let sum = 0;
    for (const [sku, now] of last.counts) {
      const before = first.counts.get(sku);
      if (before) sum += Math.max(0, now[name] - before[name]);
    }
    rates[name] = sum / seconds;
  }
  return rates;
}
