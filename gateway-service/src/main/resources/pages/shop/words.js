// What the page says, in two languages. {name} stands for a value.

const EN = {
  skip: 'Skip to the product',
  brand: 'Flash sale',
  title: '{name} · Flash sale',
  otherLanguage: '中文',
  signIn: 'Sign in',
  signOut: 'Sign out shopper {user}',
  products: 'On sale',
  allProducts: '← All products',
  noProducts: 'Nothing is on sale at the moment.',
  unknownProduct: 'There is no such product.',
  onSale: 'On sale',
  nearlyGone: 'Nearly gone',
  soldOut: 'Sold out',
  paused: 'Paused',
  soon: 'Opens soon',
  closed: 'Closed',
  rulesONE_PER_USER: 'One for each shopper.',
  rulesLIMITED: 'At most {limit} for each shopper.',
  rulesUNLIMITED: 'As many as you like.',
  opensIn: 'Opens in',
  closesIn: 'Closes in',
  isClosed: 'The sale is over.',
  isPaused: 'The sale is paused. It may go on at any moment.',
  isSoon: 'The sale opens any moment.',
  day: 'd',
  quantity: 'Quantity',
  less: 'One less',
  more: 'One more',
  buy: 'Buy now',
  stepQueued: 'Queued',
  stepConfirmed: 'Confirmed',
  stepPaid: 'Payment',
  sending: 'Sending your order…',
  sendingText: 'Stay here for a moment.',
  retrying: 'No answer yet. Trying again…',
  retryingText: 'It is the same order each time: you cannot buy twice. You may also reload this page.',
  busy: 'Very many people are buying. Trying again…',
  queued: 'You are in the queue',
  queuedText: 'Your units are reserved. This page tells you as soon as the order is confirmed.',
  delayed: 'Your order takes longer',
  delayedText: 'It is safe, and somebody is looking after it. You need not do anything.',
  confirmed: 'It is yours: {quantity} × {name}',
  confirmedText: 'Pay within the time shown, or the order expires and its units go back on sale.',
  confirmedLate: 'The time to pay is over. Waiting for the last word…',
  paid: 'Paid. Thank you!',
  paidText: 'Your order of {quantity} × {name} is complete.',
  cancelled: 'Cancelled',
  cancelledText: 'You cancelled this order. Its units are on sale again.',
  expired: 'Expired',
  expiredText: 'The order was not paid in time. Its units are on sale again.',
  rejected: 'You did not get it',
  notBought: 'Not bought',
  position: 'Place in the queue',
  expected: 'Expected wait',
  seconds: 'about {n} s',
  payWithin: 'Pay within',
  total: 'Total',
  orderNumber: 'Order',
  pay: 'Pay {amount}',
  paying: 'Paying…',
  cancel: 'Cancel order',
  cancelling: 'Cancelling…',
  dismiss: 'OK',
  yourOrders: 'Your orders',
  show: 'Show',
  offline: 'The connection is lost. Your order is safe; this page goes on by itself.',
  pageAway: 'The shop does not answer at the moment. Trying again…',
  declined: 'The payment was not accepted. You may try again.',
  orderGone: 'This order is not known any more.',
  signInAgain: 'Please sign in again to go on with your order.',
  sureTitle: 'Cancel this order?',
  sureText: 'Its units go back on sale at once, and somebody else may buy them.',
  sureYes: 'Cancel the order',
  sureNo: 'Keep it',
  demoHint: 'Demo: any shopper number will do; nobody checks it.',
  shopperNumber: 'Shopper number',
  tokenHint: 'Your shop signs you in. With a token of your own, paste it here.',
  token: 'Token',
  notNow: 'Not now',
  badNumber: 'A shopper number is a whole number from 1.',
  badToken: 'This is no shopper’s token.',
  badQuantity: 'Choose a whole number from 1 to {max}.',
  noToken: 'No token could be had. Try again.',
  reasonSOLD_OUT: 'Sold out: others were faster, and not enough units are left.',
  reasonQUOTA_EXCEEDED: 'That would be more than one shopper may buy of this product.',
  reasonNOT_OPEN: 'The sale has not opened yet.',
  reasonPAUSED: 'The sale is paused. Try again in a moment.',
  reasonCLOSED: 'The sale is over.',
  reasonUNKNOWN_SKU: 'This product is not on sale.',
  reasonINVALID_REQUEST: 'This quantity cannot be ordered at once.',
  reasonDISCARDED: 'The order could not be completed. Nothing was charged, and the units were returned.',
  reasonFORBIDDEN: 'You are signed in as somebody who cannot buy.',
  reason: 'The order was refused ({code}).',
  statusQUEUED: 'Queued',
  statusDELAYED: 'Delayed',
  statusCONFIRMED: 'To be paid',
  statusPAID: 'Paid',
  statusCANCELLED: 'Cancelled',
  statusEXPIRED: 'Expired',
  statusREJECTED: 'Refused',
};

const ZH = {
  skip: '跳到商品',
  brand: '限时抢购',
  title: '{name} · 限时抢购',
  otherLanguage: 'English',
  signIn: '登录',
  signOut: '退出（用户 {user}）',
  products: '正在抢购',
  allProducts: '← 全部商品',
  noProducts: '目前没有商品在售。',
  unknownProduct: '没有这个商品。',
  onSale: '抢购中',
  nearlyGone: '即将售罄',
  soldOut: '已售罄',
  paused: '已暂停',
  soon: '即将开始',
  closed: '已结束',
  rulesONE_PER_USER: '每人限购一件。',
  rulesLIMITED: '每人最多购买 {limit} 件。',
  rulesUNLIMITED: '不限购买数量。',
  opensIn: '距开始',
  closesIn: '距结束',
  isClosed: '本次抢购已结束。',
  isPaused: '抢购已暂停，随时可能恢复。',
  isSoon: '抢购马上开始。',
  day: '天',
  quantity: '数量',
  less: '减少一件',
  more: '增加一件',
  buy: '立即抢购',
  stepQueued: '排队',
  stepConfirmed: '已确认',
  stepPaid: '付款',
  sending: '正在提交订单……',
  sendingText: '请稍候，不要离开。',
  retrying: '暂未收到答复，正在重试……',
  retryingText: '每次重试都是同一个订单，不会重复购买；也可以刷新本页。',
  busy: '抢购人数很多，正在重试……',
  queued: '正在排队',
  queuedText: '商品已为您预留，确认后本页会立即通知您。',
  delayed: '订单处理时间较长',
  delayedText: '订单是安全的，工作人员正在处理，您无需任何操作。',
  confirmed: '抢到了：{name} × {quantity}',
  confirmedText: '请在限定时间内付款，否则订单将过期，商品会重新上架。',
  confirmedLate: '付款时间已过，正在等待最终结果……',
  paid: '付款成功，谢谢！',
  paidText: '您的订单（{name} × {quantity}）已完成。',
  cancelled: '已取消',
  cancelledText: '您已取消该订单，商品已重新上架。',
  expired: '已过期',
  expiredText: '订单未在限定时间内付款，商品已重新上架。',
  rejected: '未抢到',
  notBought: '未能购买',
  position: '排队位置',
  expected: '预计等待',
  seconds: '约 {n} 秒',
  payWithin: '剩余付款时间',
  total: '合计',
  orderNumber: '订单号',
  pay: '付款 {amount}',
  paying: '正在付款……',
  cancel: '取消订单',
  cancelling: '正在取消……',
  dismiss: '知道了',
  yourOrders: '我的订单',
  show: '查看',
  offline: '网络已断开。您的订单是安全的，恢复后本页会自动继续。',
  pageAway: '商店暂时没有响应，正在重试……',
  declined: '付款未被接受，可以再试一次。',
  orderGone: '找不到这个订单了。',
  signInAgain: '请重新登录以继续处理您的订单。',
  sureTitle: '要取消这个订单吗？',
  sureText: '商品会立即重新上架，可能被其他人买走。',
  sureYes: '取消订单',
  sureNo: '保留订单',
  demoHint: '演示模式：任意用户编号即可，不做验证。',
  shopperNumber: '用户编号',
  tokenHint: '请通过商店登录；如果您有自己的令牌，请粘贴在这里。',
  token: '令牌',
  notNow: '以后再说',
  badNumber: '用户编号必须是从 1 开始的整数。',
  badToken: '这不是有效的用户令牌。',
  badQuantity: '请选择 1 到 {max} 之间的整数。',
  noToken: '未能获取令牌，请再试一次。',
  reasonSOLD_OUT: '已售罄：别人更快一步，剩余数量不足。',
  reasonQUOTA_EXCEEDED: '超出了该商品的每人限购数量。',
  reasonNOT_OPEN: '抢购尚未开始。',
  reasonPAUSED: '抢购已暂停，请稍后再试。',
  reasonCLOSED: '抢购已结束。',
  reasonUNKNOWN_SKU: '该商品不在抢购中。',
  reasonINVALID_REQUEST: '一次不能购买这么多。',
  reasonDISCARDED: '订单未能完成，没有扣款，商品已退回库存。',
  reasonFORBIDDEN: '当前登录的账号不能购买。',
  reason: '订单被拒绝（{code}）。',
  statusQUEUED: '排队中',
  statusDELAYED: '处理中',
  statusCONFIRMED: '待付款',
  statusPAID: '已付款',
  statusCANCELLED: '已取消',
  statusEXPIRED: '已过期',
  statusREJECTED: '未成功',
};

const STORE = 'seckill.language';
const WORDS = {en: EN, 'zh-CN': ZH};
let current = localStorage.getItem(STORE) in WORDS ? localStorage.getItem(STORE) : preferred();

function preferred() {
  return navigator.languages.map((l) => l.slice(0, 2)).find((l) => l === 'zh' || l === 'en') === 'zh' ? 'zh-CN' : 'en';
}

export function language() {
  return current;
}

/** The other language from now on, in every tab to come. */
export function switchLanguage() {
  current = current === 'en' ? 'zh-CN' : 'en';
  localStorage.setItem(STORE, current);
}

/** A text with its values. */
export function t(name, values = {}) {
  return WORDS[current][name].replace(/\{(\w+)\}/g, (all, key) => String(values[key] ?? all));
}

/** Why not, in plain words. */
export function reason(code) {
  return `reason${code}` in WORDS[current] ? t(`reason${code}`) : t('reason', {code: code || '?'});
}

/** Texts that stand in the HTML. */
export function translatePage() {
  document.documentElement.lang = current;
  for (const element of document.querySelectorAll('[data-t]')) element.textContent = t(element.dataset.t);
  for (const element of document.querySelectorAll('[data-t-label]')) {
    element.setAttribute('aria-label', t(element.dataset.tLabel));
  }
}

export function money(cents) {
  const currency = document.documentElement.dataset.currency;
  return new Intl.NumberFormat(current, {style: 'currency', currency, currencyDisplay: 'narrowSymbol'}).format(cents / 100);
}
