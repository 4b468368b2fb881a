import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { errorOf } from "../../checkup/fault.ts";
import { findHolder } from "../../checkup/find-holder.ts";
import { namePortFault } from "../../checkup/judge-host.ts";
import type { ListenAddress } from "../config.ts";

/** Listening server. */
export interface OpenServer {
  /** Its origin on this machine. */
  readonly origin: string;
  readonly port: number;
  /** Closes it with all of its connections. */
  stop(): Promise<void>;
}

/** Starts a server; throws the fault of an address that is not available. `setting` is what names the address. */
export async function openServer(server: Server, address: ListenAddress, setting: string): Promise<OpenServer> {
  const { host, port } = address;
  server.listen(port, host);
  await once(server, "listening").catch(async (error: unknown) => {
    throw errorOf(namePortFault(error, address, setting, await findHolder(port)));
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    port: taken,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
