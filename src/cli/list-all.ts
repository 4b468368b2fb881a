/** Pages of one list: enough for whatever a person reads. */
const PAGES = 50;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Every item of a list, page by page. */
export async function listAll<Item>(read: (query: { cursor?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page++) {
    const { items: more, nextCursor }: Page<Item> = await read(cursor === null ? {} : { cursor });
    items.push(...more);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return items;
}
