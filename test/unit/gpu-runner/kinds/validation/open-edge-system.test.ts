import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { openEdgeSystem } from "../../../../../src/gpu-runner/kinds/validation/open-edge-system.ts";
import { SeededRows } from "../../../../../src/gpu-runner/kinds/validation/seeded-rows.ts";
import { decodeFrame } from "../../../../../src/protocol/wire/frame.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import { LinkInferHeader } from "../../../../../src/protocol/inference/inference.ts";
import { createProblem } from "../../../../../src/protocol/wire/problem.ts";

const opened: (() => void)[] = [];
afterEach(() => opened.splice(0).forEach((close) => close()));

const placementId = createId("placement");
const model = { inputs: [{ name: "x", dtype: "float32" as const, shape: [-1, 2] }] };

interface Asked {
  readonly header: LinkInferHeader;
  readonly request: IncomingMessage;
}

/** An edge that answers by a function, and the system that asks it. */
async function open(
  answer: (response: ServerResponse, asked: Asked) => void,
  rows = 4,
  maxInFlight: number | null = null,
) {
  const asked: Asked[] = [];
  let connections = 0;
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const decoded = decodeFrame(new Uint8Array(Buffer.concat(chunks)));
    const header = LinkInferHeader.parse(decoded.ok ? decoded.header : null);
    asked.push({ header, request });
    answer(response, asked.at(-1)!);
  });
  server.on("connection", () => connections++);
  await once(server.listen(0), "listening");
  const edgeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const inputs = new SeededRows(model, 1);
  const system = openEdgeSystem(
    { edgeUrl, credential: "mc_secret" },
    { model: "sums@1", placementId, inputs, rows, maxInFlight },
  );
  opened.push(() => {
    system.close();
    server.closeAllConnections();
    server.close();
  });
  return { system, asked, connections: () => connections };
}

it("asks for its placement as this runner, over one connection, with other rows each time", async () => {
  const { system, asked, connections } = await open((response) => response.end("a frame"));
  const patient = system.within(60_000, { confidence: 0.9 });
  expect(patient.maxSamples).toBe(4);
  for (const samples of [1, 1, 4]) await patient.query(samples);
  expect(connections()).toBe(1);
  expect(asked.map(({ request }) => [request.method, request.url])).toEqual(
    Array.from({ length: 3 }, () => ["POST", "/v1/link/infer"]),
  );
  expect(asked[0]?.request.headers.authorization).toBe("Bearer mc_secret");
  expect(asked[0]?.header).toMatchObject({ model: "sums@1", placementId, budgetMs: 60_000, confidence: 0.9 });
  expect(asked.map(({ header }) => header.tensors[0]?.shape)).toEqual([
    [1, 2],
    [1, 2],
    [4, 2],
  ]);
});

it("reports the edge's words of a refusal, and a broken way", async () => {
  const problem = createProblem("overloaded", "No room.", { retryAfterMs: 3 });
  const refusing = await open((response) => response.writeHead(503).end(JSON.stringify(problem)));
  await expect(refusing.system.within(60_000).query(1)).rejects.toMatchObject({ problem });
  const strange = await open((response) => response.writeHead(502).end("<html>"));
  await expect(strange.system.within(60_000).query(1)).rejects.toMatchObject({ problem: { code: "backend-failed" } });
  const broken = await open((response) => response.destroy());
  await expect(broken.system.within(60_000).query(1)).rejects.toMatchObject({ problem: { code: "runner-lost" } });
  const silent = await open(() => {});
  const pending = silent.system.within(60_000).query(1);
  while (silent.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  silent.system.close();
  await expect(pending).rejects.toMatchObject({ problem: { code: "runner-lost" } });
});

it("keeps to what may be in flight, unless requests come all the same", async () => {
  const waiting: ServerResponse[] = [];
  const { system, asked } = await open((response) => void waiting.push(response), 4, 1);
  const first = [system.within(60_000), system.within(60_000, { beyondCap: "comes" })].map((each) => [
    each.query(1),
    each.query(1),
  ]);
  while (waiting.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(asked).toHaveLength(3);
  while (asked.length < 4 || waiting.length > 0) {
    waiting.shift()?.end("a frame");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(first.flat());
});
