import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { StoredObject } from "../../protocol/transfer.ts";

/** Everything that lies beside the database, by key. */
export async function* listObjects(client: Client, id: string): AsyncGenerator<StoredObject> {
  let cursor: string | null = null;
  do {
    const query: { cursor?: string } = cursor === null ? {} : { cursor };
    const page: { items: StoredObject[]; nextCursor: string | null } = await client.call(endpoints.listObjects, {
      params: { id },
      query,
    });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
