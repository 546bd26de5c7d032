// No module: it also runs when the modules do not start. While gateways are upgraded one after the other, they may come from
// two versions. The page is loaded again, later and later; what the browser has of its version stays in its cache.

const RELOADS = 'seckill.reloads';
const MOST_RELOADS = 20;

/** Where it is refused the modules do not start, however often the page is loaded. */
function mayStore() {
  try {
    return Boolean(sessionStorage && localStorage);
  } catch {
    return false;
  }
}

addEventListener('load', () => {
  if (!mayStore()) {
    const away = document.getElementById('away');
    away.textContent = navigator.language.startsWith('zh')
      ? '此页面需要 Cookie 和网站数据，请在浏览器中允许本网站使用，然后重新加载。'
      : 'This page needs cookies and site data: allow them for this site, then load it again.';
    away.hidden = false;
    return;
  }
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
