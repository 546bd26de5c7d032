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
  if (element.hidden === visible) element.hidden = !visible;
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

/** Moves and removes as few as it can: those that stay keep the focus, and a click under way. */
export function updateChildren(parent, children) {
  const places = new Map(children.map((child, i) => [child, i]));
  [...parent.children].filter((child) => !places.has(child)).forEach((child) => child.remove());
  const unmoved = longestRise([...parent.children].map((child) => places.get(child)));
  children.forEach((child, i) => {
    if (unmoved.has(i)) return;
    if (i === 0) parent.prepend(child);
    else children[i - 1].after(child);
  });
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
