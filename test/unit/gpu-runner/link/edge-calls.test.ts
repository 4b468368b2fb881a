import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createEdgeProbe } from "../../../../src/gpu-runner/link/edge-probe.ts";
import { registerRunner } from "../../../../src/gpu-runner/link/registration.ts";
import { createProblem } from "../../../../src/protocol/wire/problem.ts";

let server: Server;
let edgeUrl: string;
/** Answer of the edge; null: none. */
let reply: { status: number; body: string } | null;

beforeEach(async () => {
  server = createServer((_, response) => {
    if (reply !== null) response.writeHead(reply.status).end(reply.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  edgeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

const probe = () => createEdgeProbe({ edgeUrl, credential: "mc_sample" });
const { signal } = new AbortController();
const register = () => registerRunner(edgeUrl, { token: "mr_sample", name: "sample", labels: {} });
const stale = createProblem("token-used", "The token was used.");

describe("the edge, timed from outside", () => {
  it("refuses by its own problem, or by the status of what stands before it", async () => {
    reply = { status: 409, body: JSON.stringify(stale) };
    await expect(probe().measureMs(3, signal)).rejects.toMatchObject({ problem: stale });
    reply = { status: 502, body: "<h1>Bad gateway</h1>" };
    await expect(probe().measureMs(3, signal)).rejects.toMatchObject({
      problem: { code: "backend-failed", detail: "The edge answered 502." },
    });
  });

  it("is waited for no longer than half a minute, nor longer than the job", async () => {
    reply = null;
    const limit = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
    const limited = probe().measureMs(1, signal);
    limit.abort(new Error("it took too long"));
    await expect(limited).rejects.toThrow("it took too long");
    expect(timeout).toHaveBeenCalledWith(30_000);
    timeout.mockReturnValue(new AbortController().signal);
    const ending = new AbortController();
    const ended = probe().measureMs(1, ending.signal);
    ending.abort(new Error("the job ended"));
    await expect(ended).rejects.toThrow("the job ended");
  });
});

describe("a registration", () => {
  it("is refused by the edge's problem", async () => {
    reply = { status: 409, body: JSON.stringify(stale) };
    await expect(register()).rejects.toMatchObject({ problem: { code: "token-used" } });
  });

  it("fails with a sentence where something else answers", async () => {
    for (const body of ["<h1>Welcome</h1>", "{}"]) {
      for (const status of [200, 502]) {
        reply = { status, body };
        await expect(register()).rejects.toThrow(`The server at ${edgeUrl} is not an edge: ${status}.`);
      }
    }
  });
});
