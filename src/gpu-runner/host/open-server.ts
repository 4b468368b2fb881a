import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ListenAddress } from "../config.ts";

/** Listening server. */
export interface OpenServer {
  /** Its origin on this machine. */
  readonly origin: string;
  readonly port: number;
  /** Closes it with all of its connections. */
  stop(): Promise<void>;
}

/** Starts a server; rejects where the address is not available. */
export async function openServer(server: Server, { host, port }: ListenAddress): Promise<OpenServer> {
  server.listen(port, host);
  await once(server, "listening");
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
