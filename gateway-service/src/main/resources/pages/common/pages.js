// A list that is read in pages.

/**
 * @param {(after: any, isNewest: () => boolean) => Promise<{items: object[], next: any} | null>} read a page; after is
 *     null for the first one; null without an answer, or when a newer read has begun
 * @param {(items: object[], next: any) => void} render next is null on the last page
 */
export function pagedList(read, render) {
  let items = [];
  let pages = 0;
  let next = null;
  let newest = 0; // read begun
  let reading = false;

  async function load(after) {
    const mine = ++newest;
    reading = true;
    const isNewest = () => mine === newest;
    const page = await read(after, isNewest);
    if (!isNewest()) return true;
    reading = false;
    if (!page) return false;
    items = after === null ? page.items : [...items, ...page.items];
    pages = after === null ? 1 : pages + 1;
    next = page.next;
    render(items, next);
    return true;
  }

  return {
    /** Reads the first page, which takes the place of all; a read under way is dropped. Resolves to false without an answer. */
    first: () => load(null),
    /** Whether no page is shown but the first, and none is being read. */
    isFirstPage: () => pages <= 1 && !reading,
    isReading: () => reading,
    /** Reads the next page; does nothing while one is being read. */
    more: () => reading || next === null || load(next),
    clear() {
      newest++;
      reading = false;
      items = [];
      next = null;
      render(items, next);
    },
  };
}
