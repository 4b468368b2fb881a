import type { Endpoint } from "../protocol/endpoint.ts";
import type { CallOptions, OptionsArgument } from "./call-options.ts";
import type { Client } from "./client.ts";

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/**
 * Iterates all items of a list, page by page on demand; `limit` in the query is the page size. Items added meanwhile
 * may be missing.
 */
export async function* listAll<P, Q extends { cursor?: string | undefined }, H, B, Item>(
  client: Client,
  endpoint: Endpoint<P, Q, H, B, Page<Item>>,
  ...[options]: OptionsArgument<CallOptions<P, Q, H, B>>
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const query: object | undefined = cursor === null ? options?.query : { ...options?.query, cursor };
    const page: Page<Item> = await client.call(endpoint, { ...options, query } as never);
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
