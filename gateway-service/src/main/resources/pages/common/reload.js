// No module: it also runs when the modules do not start. While gateways are upgraded one after the other, they may come from
// two versions. The page is loaded again, later and later; what the browser has of its version stays in its cache.

const RELOADS = 'seckill.reloads';
const MOST_RELOADS = 20;

addEventListener('load', () => {
  const reloads = Number(sessionStorage.getItem(RELOADS));
  if (document.body.dataset.started === 'yes') sessionStorage.removeItem(RELOADS);
  else if (reloads < MOST_RELOADS) {
    sessionStorage.setItem(RELOADS, reloads + 1);
    setTimeout(() => location.reload(), Math.min(30_000, 500 * 2 ** reloads) * (0.5 + Math.random()));
  }
});

// Back brings a page as it was left, which shows, and goes on buying for, a shopper who may have signed out since.
addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  document.body.hidden = true; // at once: the network may be slow
  location.reload();
});
