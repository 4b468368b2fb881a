import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { StoredObject } from "../../protocol/transfer.ts";

/** Everything that lies beside the database, by key. */
export function listObjects(client: Client, id: string): AsyncGenerator<StoredObject> {
  return listAll(client, endpoints.listObjects, { params: { id } });
}
