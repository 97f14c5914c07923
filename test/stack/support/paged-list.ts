/** Lists of the API whose pages follow each other by `Link` headers. */
import { expect } from 'vitest';
import type { Received } from './client.ts';

/**
 * The readings of a list.
 *
 * @param read - calls its endpoint
 * @param idOf - how tests name an item
 */
export const pagedList = <Query extends object, Item>(
  read: (token: string, query: Query) => Promise<Received<Item[] | null>>,
  idOf: (item: Item) => string,
) => {
  type Caller = { token: string };

  /** A page, and the query of the next one. */
  const list = async (
    { token }: Caller,
    query = {} as Query,
  ): Promise<{ items: Item[]; next?: Query & { cursor?: string } }> => {
    const { status, body, headers } = await read(token, query);
    const link = headers.get('link');
    expect(status).toBe(body === null ? 204 : 200);
    if (link === null) return { items: body ?? [] };
    const { searchParams } = new URL(/<(.*)>; rel="next"/.exec(link)?.[1] ?? '', 'http://x');
    return { items: body ?? [], next: Object.fromEntries(searchParams) as Query };
  };

  const idsOf = async (caller: Caller, query = {} as Query): Promise<string[]> =>
    (await list(caller, query)).items.map(idOf);

  /** The ids of all pages, page by page. */
  const walk = async (caller: Caller, query: Query): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let following: Query | undefined = query; following !== undefined; ) {
      const { items, next } = await list(caller, following);
      pages.push(items.map(idOf));
      following = next;
    }
    return pages;
  };

  /** The cursor of the second page: a stale list may have none yet. */
  const cursorAfter = async (caller: Caller, query: Query): Promise<string> => {
    let cursor: string | undefined;
    await expect
      .poll(async () => {
        cursor = (await list(caller, query)).next?.cursor;
        return cursor;
      })
      .toBeDefined();
    return cursor ?? '';
  };

  return { list, idsOf, walk, cursorAfter };
};

/** Ids in pages of a size, as `walk` returns them. */
export const inPages = (size: number, ids: string[]): string[][] =>
  ids.length === 0 ? [] : [ids.slice(0, size), ...inPages(size, ids.slice(size))];
