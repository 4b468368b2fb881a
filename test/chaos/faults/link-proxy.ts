import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { type Way, type Weather, WeatheredWay } from "../load/weathered-way.ts";

const HOST = "127.0.0.1";
const CLEAR: Weather = { kind: "clear" };

interface Connection {
  readonly ends: readonly [Socket, Socket];
  readonly ways: readonly [Way, Way];
}

/** TCP from a runner to the edge, with the weather that is set: requests, and the WebSocket by its frames. */
export class LinkProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #weather: Weather = CLEAR;

  private constructor(server: Server, targetPort: number, onText: (text: string) => void) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket: Socket) => this.#join(socket, targetPort, onText));
  }

  /** `onText` receives every text message of the edge's on its arrival, whatever happens to it. */
  static async open(targetPort: number, onText: (text: string) => void): Promise<LinkProxy> {
    const server = createServer();
    server.listen(0, HOST);
    await once(server, "listening");
    return new LinkProxy(server, targetPort, onText);
  }

  set weather(weather: Weather | null) {
    this.#weather = weather ?? CLEAR;
  }

  /** Ends every connection at once, as by a reset. */
  cut(): void {
    for (const { ends } of this.#connections) for (const end of ends) end.resetAndDestroy();
    this.#connections.clear();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(runner: Socket, targetPort: number, onText: (text: string) => void): void {
    const edge = connect(targetPort, HOST);
    const weather = () => this.#weather;
    const out = new WeatheredWay(edge, weather);
    const back = new WeatheredWay(runner, weather, onText);
    const connection: Connection = { ends: [runner, edge], ways: [out, back] };
    this.#connections.add(connection);
    for (const end of connection.ends) {
      end.setNoDelay(true);
      // The close of an end reports its errors.
      end.on("error", () => {});
      end.on("close", () => {
        // Of a connection that swallowed something neither end ever learns that the other is gone.
        if (connection.ways.some((way) => way.isHalfOpen)) return;
        this.#connections.delete(connection);
        for (const each of connection.ends) each.destroy();
      });
    }
    runner.on("data", (chunk: Buffer) => out.push(chunk));
    edge.on("data", (chunk: Buffer) => back.push(chunk));
  }
}
