import { expect, test } from "vitest";
import type { ModelDevice } from "../../../../bench/goodput/model-device.ts";
import { createFifo, createFifoWithTimeouts } from "../../../../bench/goodput/peers/fifo.ts";
import type { CreatePolicy, PolicyRequest } from "../../../../bench/goodput/policy.ts";
import { createBentoml, stepCork } from "../../../../bench/goodput/peers/bentoml.ts";
import { adaptLimit, createClipperAimd } from "../../../../bench/goodput/peers/clipper-aimd.ts";
import { fitBatchTimes } from "../../../../bench/goodput/peers/fit-batch-times.ts";

test("Clipper's limit rises by one behind a full batch in time, and falls by a tenth behind a late one", () => {
  expect(adaptLimit(4.5, true, 1, 10)).toBe(5.5);
  expect(adaptLimit(4.5, false, 1, 10)).toBe(4.5);
  expect(adaptLimit(10, true, 1_000, 10)).toBe(9);
  expect(adaptLimit(1, true, 1_000, 10)).toBe(1);
  expect(adaptLimit(64, true, 1, 10)).toBe(64);
});

test("BentoML drops the oldest that would be late, waits while that is cheap, and releases else", () => {
  const model = { rowMs: 1, fixedMs: 1, waitMs: 10 };
  const state = { waiting: 2, rows: 2, oldestMs: 0, newestMs: 0, busy: false };
  expect(stepCork({ ...state, oldestMs: 1_000 }, model, 10)).toBe("drop-oldest");
  // One alone is served late rather than dropped, but for one that has waited its time behind a batch.
  expect(stepCork({ ...state, waiting: 1, rows: 8, oldestMs: 1_000, newestMs: 1_000 }, model, 10)).toBe("release");
  expect(stepCork({ ...state, waiting: 1, rows: 8, oldestMs: 1_000, busy: true }, model, 10)).toBe("drop-oldest");
  expect(stepCork({ ...state, busy: true }, model, 10)).toBe("wait");
  // Rows last, and requests wait: two of 16 rows are late where two rows are not, and two of 64 are a full batch.
  expect(stepCork({ ...state, rows: 16 }, model, 10)).toBe("drop-oldest");
  expect(stepCork({ ...state, rows: 64 }, model, 100)).toBe("release");
  // Another tick and row cost the two 2 · (0 + 1 + 1) ms, less than 0.95 of the average wait.
  expect(stepCork(state, model, 10)).toBe("wait");
  expect(stepCork(state, { ...model, waitMs: 4 }, 10)).toBe("release");
  expect(stepCork({ ...state, newestMs: 3 }, model, 10)).toBe("release");
});

test("durations of batches are fitted by a line, neither part of it negative", () => {
  const sample = (rows: number, durationMs: number) => ({ rows, durationMs, waitMs: rows });
  const line = fitBatchTimes([sample(1, 3), sample(3, 7), sample(5, 11)]);
  expect(line.rowMs).toBeCloseTo(2);
  expect(line.fixedMs).toBeCloseTo(1);
  expect(line.waitMs).toBeCloseTo(3);
  // Batches of one size: 10 ms is 2 · 4 + 2, the smallest coefficients that give it.
  const one = fitBatchTimes([sample(2, 5), sample(2, 15)]);
  expect(one.rowMs).toBeCloseTo(4);
  expect(one.fixedMs).toBeCloseTo(2);
  expect(fitBatchTimes([sample(1, 9), sample(5, 1)]).rowMs).toBeGreaterThan(0);
});

/** A device that computes nothing until it is released, and reports the rows of its batches. */
function holdDevice() {
  const gate = Promise.withResolvers<void>();
  const batches: number[] = [];
  const compute: ModelDevice["compute"] = async (_, requests) => {
    batches.push(requests.length);
    await gate.promise;
    return requests.map((tensors) => [...tensors]);
  };
  return { compute, batches, letGo: gate.resolve };
}

/** The statuses of five requests that come while nothing is computed yet; the last one's deadline has passed. */
async function serveFive(createPolicy: CreatePolicy) {
  const { compute, batches, letGo } = holdDevice();
  const policy = createPolicy({ compute } as ModelDevice);
  const nowMs = performance.now();
  const replies = [1, 2, 3, 4, 5].map((number) => {
    const deadlineMs = number === 5 ? nowMs : nowMs + 60_000;
    const request: PolicyRequest = { id: `${number}`, model: "policy", tensors: [], arrivedMs: nowMs, deadlineMs };
    return policy.serve(request);
  });
  letGo();
  const statuses = (await Promise.all(replies)).map(({ status }) => status);
  return { statuses, batches };
}

test("a plain server answers all one by one; with timeouts it drops what is late", async () => {
  expect(await serveFive(createFifo)).toEqual({ statuses: [200, 200, 200, 200, 200], batches: [1, 1, 1, 1, 1] });
  expect(await serveFive(createFifoWithTimeouts)).toEqual({
    statuses: [200, 200, 200, 200, 504],
    batches: [1, 1, 1, 1],
  });
});

test("Clipper begins with one row, and what is late leaves its queue", async () => {
  const { statuses, batches } = await serveFive(createClipperAimd);
  expect(statuses).toEqual([200, 200, 200, 200, 504]);
  expect(batches[0]).toBe(1);
});

test("a reset gives up what waits behind the batch that runs", async () => {
  for (const createPolicy of [createFifo, createFifoWithTimeouts, createClipperAimd, createBentoml]) {
    const { compute, letGo } = holdDevice();
    const policy = createPolicy({ compute } as ModelDevice);
    const arrivedMs = performance.now();
    const request = { model: "policy", tensors: [], arrivedMs, deadlineMs: arrivedMs + 60_000 } as const;
    const first = policy.serve({ ...request, id: "first" });
    await Promise.resolve();
    const second = policy.serve({ ...request, id: "second" });
    policy.reset();
    letGo();
    expect((await second).status).toBe(503);
    expect([200, 503]).toContain((await first).status);
  }
});
