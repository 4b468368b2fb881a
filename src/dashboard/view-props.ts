import type { Client } from "../client/client.ts";
import type { PageAddress } from "./page-address.ts";
import type { AddressChange } from "./use-address.ts";
import type { Subscribe } from "./use-feed.ts";
import type { Writer } from "./use-writer.ts";

/** What every view of the page is given. */
export interface ViewProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  readonly address: PageAddress;
  readonly onPick: (change: AddressChange) => void;
  readonly writer: Writer;
}
