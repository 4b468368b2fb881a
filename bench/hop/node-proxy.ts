/**
 * Entry of a plain proxy: `node node-proxy.ts <port>`; sends its own port on the IPC channel and forwards all requests
 * to the other.
 */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, response) => {
  const { method, url, headers } = incoming;
  const outgoing = request({ port, host: "127.0.0.1", agent, method, path: url, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
  });
  outgoing.on("error", () => response.writeHead(502).end());
  incoming.pipe(outgoing);
});

process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
process.on("disconnect", () => process.exit(0));
// A round of another contender lasts longer than Node keeps an idle connection.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
