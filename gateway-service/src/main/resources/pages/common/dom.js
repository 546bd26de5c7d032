// Small ways of writing into the page; text never becomes markup.

/** Buttons that appear under a moving finger do nothing at first: the second click of a double click. */
export const SAFE_AFTER_MS = 600;

let safeTimer = 0;

/** The element with this id, which must be there. */
export function $(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no #${id} in the page`);
  return found;
}

/** A new element.
 * @param {object} properties set on it; data-… and aria-… names become attributes
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** Writes only what changed: a screen reader speaks of nothing else. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Offers a text as a file to keep. */
export function offer(text, type, name) {
  const link = make('a', {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  URL.revokeObjectURL(link.href);
}

export function show(element, visible) {
  if (element.hidden !== visible) return;
  const region = regionOf(element);
  const isLost = !visible && element.contains(document.activeElement);
  const scrolls = isFocusSeen();
  element.hidden = !visible;
  if (isLost) focusOn(controlsOf(region).filter((one) => isBefore(one, element)).reverse(), region, scrolls);
}

/** Of a keyboard, or of a field: under a mouse the page stays where it is. */
function isFocusSeen() {
  return Boolean(document.activeElement?.matches(':focus-visible'));
}

function isBefore(one, other) {
  return Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
}

/** The part of the page that has a title of its own, or all of it. */
function regionOf(element) {
  return element.parentElement?.closest('section') ?? $('main');
}

function controlsOf(element) {
  const controls = 'a[href], button, input, select';
  return element.matches(controls) ? [element] : [...element.querySelectorAll(controls)];
}

/** Focuses the first of these that is visible, or the title of the region: else the focus would be at the top of the page. */
function focusOn(candidates, region, scrolls) {
  const next = candidates.find((one) => one.getClientRects().length > 0);
  const title = document.getElementById(region.getAttribute('aria-labelledby'));
  if (title) title.tabIndex = -1;
  (next ?? title ?? region).focus({preventScroll: !scrolls || (!next && !title)});
}

/** Opens a dialog. When it closes and what opened it has gone, the focus is on the title of the region. */
export function openDialog(dialog) {
  const region = regionOf(document.activeElement);
  dialog.showModal();
  const restore = () => {
    const at = document.activeElement;
    if (!dialog.open && (at === document.body || dialog.contains(at))) focusOn([], region, true);
  };
  dialog.addEventListener('close', restore, {once: true});
}

/** Like disabled, but keyboard focus stays where it is. */
export function enable(button, enabled) {
  if (enabled) button.removeAttribute('aria-disabled');
  else button.setAttribute('aria-disabled', 'true');
}

export function isEnabled(button) {
  return button.getAttribute('aria-disabled') !== 'true';
}

/** Enables the button that confirms the dialog just opened; a page has one open at a time. */
export function enableWhenSafe(button) {
  enable(button, false);
  clearTimeout(safeTimer);
  safeTimer = setTimeout(() => enable(button, true), SAFE_AFTER_MS);
}

/** Makes rows, each of them different, the children of an element. One that it has already stays as it is. */
export function updateRows(parent, rows) {
  const old = new Map([...parent.children].map((row) => [row.outerHTML, row]));
  updateChildren(parent, rows.map((row) => old.get(row.outerHTML) || row));
}

/**
 * Moves and removes as few as it can: those that stay keep the focus, and a click under way. The focus of one that goes is then
 * on the one in its place, or the last.
 */
export function updateChildren(parent, children) {
  const places = new Map(children.map((child, i) => [child, i]));
  const old = [...parent.children];
  const lost = old.findIndex((child) => !places.has(child) && child.contains(document.activeElement));
  const nth = lost < 0 ? 0 : controlsOf(old[lost]).indexOf(document.activeElement);
  const scrolls = isFocusSeen();
  old.filter((child) => !places.has(child)).forEach((child) => child.remove());
  const unmoved = longestRise([...parent.children].map((child) => places.get(child)));
  children.forEach((child, i) => {
    if (unmoved.has(i)) return;
    if (i === 0) parent.prepend(child);
    else children[i - 1].after(child);
  });
  if (lost < 0) return;
  const place = 1 + (places.get(old.slice(0, lost).findLast((child) => places.has(child))) ?? -1);
  const nearest = [...children.slice(place), ...children.slice(0, place).reverse()];
  focusOn(nearest.map(controlsOf).flatMap((controls) => controls.slice(nth, nth + 1).concat(controls)), regionOf(parent), scrolls);
}

/** The most of these different numbers that are in order. */
function longestRise(numbers) {
  const ends = []; // the smallest end of a rise of one number, of two, and so on
  const before = new Map();
  for (const number of numbers) {
    const length = ends.findLastIndex((end) => end < number) + 1;
    before.set(number, ends[length - 1]);
    ends[length] = number;
  }
  const rise = new Set();
  for (let number = ends.at(-1); number !== undefined; number = before.get(number)) rise.add(number);
  return rise;
}
