import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureCapacity, measureIdle, measureLoad, waitForCalm } from "../../../bench/serve/measure-server.ts";
import { listTree, measureMemory } from "../../../bench/serve/process-tree.ts";
import { type Call, callByJson, callByOip, isRight } from "../../../bench/serve/requests.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";

const tensor: Tensor = {
  name: "x",
  dtype: "float32",
  shape: [1, 2, 2],
  bytes: new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer),
};
const url = new URL("http://127.0.0.1/v2/models/model/infer");
const reply = { status: 200, headers: {}, body: Buffer.from("") };

describe("a call", () => {
  it("carries the time left in the unit of its parameter", () => {
    const parametersOf = (deadline: "budget_ms" | "timeout" | null) =>
      (JSON.parse(callByOip({ url, deadline }, tensor, "JSON").body(12.5).toString()) as { parameters?: unknown })
        .parameters;
    expect(parametersOf("budget_ms")).toEqual({ budget_ms: 12.5 });
    expect(parametersOf("timeout")).toEqual({ timeout: 12_500 });
    expect(parametersOf(null)).toBeUndefined();
  });

  it("has the same tensor as JSON and as bytes behind a head of fixed length", () => {
    const json = JSON.parse(callByOip({ url, deadline: null }, tensor, "JSON").body(1).toString()) as object;
    expect(json).toEqual({ inputs: [{ name: "x", shape: [1, 2, 2], datatype: "FP32", data: [1, 2, 3, 4] }] });
    const { headers, body } = callByOip({ url, bearer: "key", deadline: "budget_ms" }, tensor, "binary");
    const headBytes = Number(headers["inference-header-content-length"]);
    expect(headers["authorization"]).toBe("Bearer key");
    for (const leftMs of [0.1, 7.123_456_789_012_345, 20_000]) {
      const sent = body(leftMs);
      expect(JSON.parse(sent.subarray(0, headBytes).toString())).toMatchObject({
        parameters: { budget_ms: leftMs, binary_data_output: true },
        inputs: [{ parameters: { binary_data_size: 16 } }],
      });
      expect(new Float32Array(new Uint8Array(sent.subarray(headBytes)).buffer)).toEqual(Float32Array.of(1, 2, 3, 4));
    }
  });

  it("reads the numbers of each protocol's reply", () => {
    const json = (body: unknown) => ({ ...reply, body: Buffer.from(JSON.stringify(body)) });
    const byOip = callByOip({ url, deadline: null }, tensor, "JSON");
    expect(byOip.read(json({ outputs: [{ shape: [1, 2], data: [5, 6] }] }))).toEqual(Float32Array.of(5, 6));
    expect(callByJson(url, tensor, "oip").read(json({ scores: [[5, 6]] }))).toEqual(Float32Array.of(5, 6));
    const nested = callByJson(url, tensor, "nested");
    expect(JSON.parse(nested.body(1).toString())).toEqual({
      inputs: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    });
    expect(nested.read(json([[5, 6]]))).toEqual(Float32Array.of(5, 6));
    const head = Buffer.from("{}");
    const binary = {
      ...reply,
      headers: { "inference-header-content-length": "2" },
      body: Buffer.concat([head, tensor.bytes]),
    };
    expect(callByOip({ url, deadline: null }, tensor, "binary").read(binary)).toEqual(Float32Array.of(1, 2, 3, 4));
  });

  it("is right within a fiftieth of the largest number, and for as many numbers", () => {
    expect(isRight(Float32Array.of(1.07, 2, 3, 4), tensor)).toBe(true);
    expect(isRight(Float32Array.of(1.1, 2, 3, 4), tensor)).toBe(false);
    expect(isRight(Float32Array.of(1, 2, 3), tensor)).toBe(false);
    expect(isRight(Float32Array.of(1, 2, 3, Number.NaN), tensor)).toBe(false);
  });
});

describe("a server under load", () => {
  /** Answers at once, refuses, or leaves every third request without a reply. */
  let behaviour: "answer" | "refuse" | "hang" = "answer";
  let requests = 0;
  let answers = 0;
  const server = createServer((request, response) => {
    void text(request).then(() => {
      requests++;
      if (behaviour === "hang" && requests % 3 === 0) return;
      if (behaviour !== "refuse") answers++;
      response.writeHead(behaviour === "refuse" ? 503 : 200).end("{}");
    });
  });
  let call: Call;

  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    call = callByJson(new URL(`http://127.0.0.1:${port}/`), tensor, "oip");
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const load = { ratePerSecond: 50, deadlineMs: 10_000, seed: 1 };

  it("answers, refuses or is late", async () => {
    behaviour = "answer";
    await waitForCalm(call, 100);
    const { p50, p99 } = (await measureIdle(call)) as { p50: number; p99: number };
    expect(p50).toBeLessThanOrEqual(p99);
    const before = answers;
    const capacity = await measureCapacity(call);
    // Of two seconds.
    expect(capacity).toBe((answers - before) / 2);
    expect(capacity).toBeGreaterThan(0);
    expect(await measureLoad(call, load)).toMatchObject({ refused: 0, late: 0 });
    behaviour = "refuse";
    expect(await measureLoad(call, load)).toMatchObject({ goodput: 0, refused: 100, late: 0, p50: Number.NaN });
    behaviour = "hang";
    const { late, refused, goodput } = await measureLoad(call, { ...load, deadlineMs: 500 });
    expect(refused).toBe(0);
    expect(goodput).toBeGreaterThan(0);
    expect(late).toBeGreaterThan(25);
  });
});

it("a tree of processes has their memory once", async () => {
  const child = spawn(process.execPath, ["-e", "require('child_process').spawnSync('sleep', ['30'])"]);
  try {
    await expect.poll(() => listTree(child.pid!).then(({ length }) => length), { timeout: 20_000 }).toBe(2);
    const tree = await listTree(child.pid!);
    const memory = await measureMemory(tree);
    expect(memory).toBeGreaterThan(5);
    expect(memory).toBeLessThan(500);
    process.kill(tree[1]!, "SIGKILL");
  } finally {
    child.kill("SIGKILL");
  }
  await once(child, "exit");
  expect(await listTree(child.pid!)).toEqual([]);
});
