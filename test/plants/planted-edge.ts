import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createSocketServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { LINK_SUBPROTOCOL } from "../../src/protocol/link.ts";
import { createProblem, type ProblemCode } from "../../src/protocol/wire/problem.ts";
import { VERSION } from "../../src/protocol/wire/release.ts";

/** What is wrong with an edge, or with what stands before it. */
export interface EdgeFaults {
  /** Certificate of `test/plants/certificates`; absent: it speaks no TLS. */
  readonly certificate?: string;
  /** How far its clock is ahead. */
  readonly aheadMs?: number;
  /** A portal or another server that answers everything with a page. */
  readonly isPage?: true;
  readonly protocols?: readonly string[];
  /** Problem of the registration. */
  readonly registration?: ProblemCode;
  /** `unknown`: credentials are refused; `blocked`: a proxy refuses WebSockets; `stripped`: it takes the header away. */
  readonly link?: "unknown" | "blocked" | "stripped";
  /** Sockets are cut after this time. */
  readonly cutAfterMs?: number;
}

export interface Planted extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

const CERTIFICATES = join(import.meta.dirname, "certificates");
export const AUTHORITY = join(CERTIFICATES, "ca.pem");
const read = (name: string) => readFileSync(join(CERTIFICATES, name), "utf8");

/** As much of an edge as a runner and the doctor meet before there is work, with faults. */
export async function plantEdge(faults: EdgeFaults = {}): Promise<Planted> {
  const { certificate } = faults;
  const chain = certificate === "intercepted" ? read("ca.pem") : "";
  const tls = certificate === undefined ? null : { key: read("key.pem"), cert: read(`${certificate}.pem`) + chain };
  const answerAll = (request: IncomingMessage, response: ServerResponse) => answer(faults, request, response);
  const server = tls === null ? createServer(answerAll) : createTlsServer(tls, answerAll);
  const sockets = new Set<Duplex>();
  server.on("upgrade", (request, socket) => {
    sockets.add(socket.on("error", () => undefined));
    upgrade(faults, request, socket);
  });
  return listen(server, tls === null ? "http" : "https", () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
  });
}

/** A server below HTTP: it takes connections, and answers their first bytes with a text, or never. */
export function plantSocket(text: string | null): Promise<Planted> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    if (text !== null) socket.once("data", () => socket.end(text));
  });
  return listen(server, "http", () => sockets.forEach((socket) => socket.destroy()));
}

async function listen(
  server: ReturnType<typeof createSocketServer>,
  scheme: string,
  cut: () => void,
): Promise<Planted> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const close = async () => {
    server.close();
    cut();
    await once(server, "close");
  };
  return { url: `${scheme}://127.0.0.1:${port}`, port, [Symbol.asyncDispose]: close };
}

function answer(faults: EdgeFaults, { url = "", method, headers }: IncomingMessage, response: ServerResponse): void {
  const { aheadMs = 0, protocols = [LINK_SUBPROTOCOL] } = faults;
  response.setHeader("date", new Date(Date.now() + aheadMs).toUTCString());
  if (faults.isPage) return void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>");
  if (url === "/v1/health") {
    const health = { status: "ok", version: VERSION, linkProtocols: protocols };
    return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(health));
  }
  if (method === "POST" && faults.registration !== undefined) return refuse(response, faults.registration);
  if (faults.link === "unknown") return refuse(response, "unauthorized");
  if (!url.startsWith("/v1/link")) return refuse(response, "not-found");
  const isStripped = faults.link === "stripped" || headers.upgrade === undefined;
  return refuse(response, "upgrade-required", isStripped ? ["header/upgrade"] : ["header/sec-websocket-protocol"]);
}

function refuse(response: ServerResponse, code: ProblemCode, pointers: readonly string[] = []): void {
  const errors = pointers.map((pointer) => ({ pointer, message: "is missing" }));
  const problem = createProblem(code, "The test's edge refuses this.", { errors });
  response.writeHead(problem.status, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
}

const ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

function upgrade(faults: EdgeFaults, request: IncomingMessage, socket: Duplex): void {
  const isRunner = request.headers["sec-websocket-protocol"] === LINK_SUBPROTOCOL;
  if (faults.link === "blocked") return void socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
  if (!isRunner || faults.link !== undefined) return writeProblem(faults, socket);
  const key = `${request.headers["sec-websocket-key"]}${ACCEPT}`;
  const accept = createHash("sha1").update(key).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${LINK_SUBPROTOCOL}\r\n\r\n`,
  );
  if (faults.cutAfterMs !== undefined) setTimeout(() => socket.destroy(), faults.cutAfterMs);
}

function writeProblem({ link }: EdgeFaults, socket: Duplex): void {
  const pointer = link === "stripped" ? "header/upgrade" : "header/sec-websocket-protocol";
  const code = link === "unknown" ? "unauthorized" : "upgrade-required";
  const problem = createProblem(code, "The test's edge refuses this.", { errors: [{ pointer, message: "is wrong" }] });
  const body = JSON.stringify(problem);
  const head = `HTTP/1.1 ${problem.status} Refused\r\ncontent-type: application/problem+json\r\n`;
  socket.end(`${head}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
}
