// What waits for an operator, such as dead letters: read when its number changes or something was done with one, and every half minute: one may come when another goes.

import {$, show, updateRows, write} from './dom.js';
import {operate, refusal} from './actions.js';
import {pagedList} from './pages.js';

const PAGE = 20;
/** That a call may ask for. */
const MOST = 200;
const AGAIN_MS = 30_000;

/**
 * @param {string} path under admin/v1
 * @param {string} member of the answer that has the items
 * @param {string} id of the table body; more-<id> reads on, no-<id> is shown when there are none, <id>-problem says why they could not be read
 * @param {(item: object, context: object) => Element} row
 */
export function openList(path, member, id, row) {
  let seen = null;
  let readAt = 0;
  let shown = [];
  let context;
  const list = pagedList(page, (items, next) => {
    show($(`more-${id}`), next !== null);
    show($(`no-${id}`), items.length === 0);
    shown = items;
    updateRows($(id), items.map((item) => row(item, context)));
  });

  async function page(after, isNewest) {
    const isFirst = after === null;
    if (isFirst) readAt = performance.now();
    const most = isFirst ? Math.max(PAGE, shown.length) : PAGE;
    const items = [];
    let next = after;
    do {
      const limit = Math.min(MOST, most - items.length);
      const query = `?state=OPEN&limit=${limit}${next === null ? '' : `&after=${next}`}`;
      const answer = await operate(context, 'GET', `admin/v1/${path}${query}`);
      if (!isNewest()) return null;
      write($(`${id}-problem`), answer.status === 200 ? '' : `They could not be read (${refusal(answer)}). Trying again…`);
      if (answer.status !== 200) {
        seen = null; // the next snapshot asks again
        return null;
      }
      items.push(...answer.json[member]);
      next = answer.json.next;
    } while (next !== null && items.length < most);
    return {items, next};
  }

  return {
    listen(to) {
      context = to;
      $(`more-${id}`).addEventListener('click', list.more);
    },
    /**
     * A read under way is never dropped for it: the numbers may change faster than a slow one ends.
     * @param {number | null} open how many there are, by the stream; null when nobody knows
     */
    changed(open) {
      if (open === null || list.isReading() || (open === seen && performance.now() - readAt < AGAIN_MS)) return;
      seen = open;
      list.first();
    },
    /** Reads as many as are shown, a page at least, and again with the next snapshot, whose number may be older than what was done. */
    read() {
      seen = null;
      return list.first();
    },
  };
}
