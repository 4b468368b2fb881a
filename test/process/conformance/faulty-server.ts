import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Ways in which the server breaks what is promised; without any it keeps everything. */
export interface Faults {
  /** Takes requests that it cannot answer in time. */
  readonly admitsAll?: boolean;
  /** Answers an expired request so much later. */
  readonly expiryDelayMs?: number;
  /** Works on requests that have expired. */
  readonly worksOn?: boolean;
  /** Works on requests whose connections have closed. */
  readonly ignoresClose?: boolean;
  /** Takes the newest waiting request first. */
  readonly newestFirst?: boolean;
  /** Works anew on a request whose key it knows. */
  readonly forgetsKeys?: boolean;
}

interface Work {
  readonly key: string | null;
  readonly replies: Set<ServerResponse>;
  readonly deadlineAtMs: number;
}

/** A unit of work; the server does one after the other. Beside it, the delays of a busy machine are small. */
const SERVICE_MS = 100;
/** How often it looks whether it stood still. */
const LOOK_MS = 20;

interface FaultyServer {
  readonly url: string;
  /** The longest time that this process stood still since the start: it kept nothing meanwhile. */
  longestStallMs(): number;
  stop(): Promise<void>;
}

/** A server with one slot and a queue, whose deadlines come as `x-deadline-ms` and whose keys as `idempotency-key`. */
export async function startFaultyServer(faults: Faults = {}): Promise<FaultyServer> {
  const waiting: Work[] = [];
  let current: Work | null = null;
  const answer = (work: Work, status: number) => {
    for (const reply of work.replies) reply.writeHead(status).end();
    work.replies.clear();
  };
  const drop = (work: Work) => {
    const at = waiting.indexOf(work);
    if (at >= 0) waiting.splice(at, 1);
  };
  const next = () => {
    current = (faults.newestFirst === true ? waiting.pop() : waiting.shift()) ?? null;
    if (current === null) return;
    setTimeout(() => {
      if (current !== null) answer(current, 200);
      next();
    }, SERVICE_MS);
  };
  const expire = (work: Work) => {
    if (faults.worksOn !== true) drop(work);
    answer(work, 504);
  };

  const server = createServer((request, reply) => {
    request.resume();
    const deadlineMs = Number(request.headers["x-deadline-ms"] ?? 60_000);
    const key = (request.headers["idempotency-key"] as string | undefined) ?? null;
    const known =
      faults.forgetsKeys === true || key === null ? undefined : [current, ...waiting].find((work) => work?.key === key);
    if (known != null) return void known.replies.add(reply);
    const waitMs = (waiting.length + 2) * SERVICE_MS * 1.2;
    if (faults.admitsAll !== true && waitMs > deadlineMs) return void reply.writeHead(503).end();
    const work: Work = { key, replies: new Set([reply]), deadlineAtMs: performance.now() + deadlineMs };
    waiting.push(work);
    setTimeout(() => expire(work), deadlineMs + (faults.expiryDelayMs ?? 0));
    reply.on("close", () => {
      work.replies.delete(reply);
      if (work.replies.size === 0 && faults.ignoresClose !== true && faults.worksOn !== true) drop(work);
    });
    if (current === null) next();
  });
  server.keepAliveTimeout = 10_000;
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let [lookedMs, stallMs] = [performance.now(), 0];
  const look = () => {
    const nowMs = performance.now();
    stallMs = Math.max(stallMs, nowMs - lookedMs - LOOK_MS);
    lookedMs = nowMs;
    return stallMs;
  };
  const looking = setInterval(look, LOOK_MS);
  return {
    url,
    longestStallMs: look,
    stop: async () => {
      clearInterval(looking);
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
