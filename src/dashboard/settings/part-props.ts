import type { Client } from "../../client/client.ts";
import type { Subscribe } from "../use-feed.ts";

/** What every part of the settings is given. */
export interface PartProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  /** Whether the key of the page has the `admin` scope. */
  readonly administers: boolean;
  /** Whether it is the operator's, who looks after the other projects. */
  readonly operates: boolean;
}
