import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ListenAddress } from "../config.ts";

/** A server that listens. */
export interface OpenServer {
  /** By which this machine reaches it. */
  readonly origin: string;
  readonly port: number;
  /** Ends it with all of its connections. */
  stop(): Promise<void>;
}

/** Lets a server listen; rejects where the address cannot be had. */
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
