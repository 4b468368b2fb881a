import { expect, it } from "vitest";
import type { FleetDevice } from "../../../../../src/gpu-runner/serving/device-fleet.ts";
import type { DeviceHost } from "../../../../../src/gpu-runner/device-host/device-host.ts";
import { InferenceServer } from "../../../../../src/gpu-runner/serving/queue/inference-server.ts";
import type { ModelLoader } from "../../../../../src/gpu-runner/serving/model-loader.ts";
import { openModelSystem } from "../../../../../src/gpu-runner/kinds/validation/open-model-system.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import type { PlacedModel } from "../../../../../src/protocol/link.ts";
import { DEFAULT_CONFIGURATION } from "../../../../../src/protocol/fleet/serving.ts";
import { type Tensor, typedView } from "../../../../../src/protocol/wire/tensor.ts";

/** A budget that also holds a pause of the machine, which the queue expects again. */
const PATIENT_MS = 600_000;

const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: `sha256:${"0".repeat(64)}` }],
  inputs: [{ name: "x", dtype: "float32", shape: [-1, 2] }],
  outputs: [{ name: "y", dtype: "float32", shape: [-1, 1] }],
};

/** A device's answer: the sum of each row. */
function addUp([x]: readonly Tensor[], error = 0): Tensor[] {
  const values = typedView(x!) as Float32Array;
  const rows = x!.shape[0] ?? 0;
  const sums = Float32Array.from({ length: rows }, (_, row) => values[2 * row]! + values[2 * row + 1]! + error);
  return [{ name: "y", dtype: "float32", shape: [rows, 1], bytes: new Uint8Array(sums.buffer) }];
}

type Answer = (tensors: readonly Tensor[]) => Tensor[];

function createDevice(key: string, answer: Answer) {
  const asked: (readonly Tensor[])[] = [];
  const infer = async (_: string, tensors: readonly Tensor[]) => {
    asked.push(tensors);
    return { tensors: answer(tensors), times: { uploadMs: 0, computeMs: 0.1, readbackMs: 0 } };
  };
  const host = { infer, device: { key } } as unknown as DeviceHost;
  return { device: { host, server: new InferenceServer(host) } satisfies FleetDevice, asked };
}

async function open({
  answer = addUp,
  joins = true,
  maxRows = 8,
  maxInFlight = null,
  largestQuery = 64,
}: {
  answer?: Answer;
  joins?: boolean;
  maxRows?: number | null;
  maxInFlight?: number | null;
  largestQuery?: number;
} = {}) {
  const cpu = createDevice("cpu", (tensors) => addUp(tensors));
  const { device, asked } = createDevice("gpu0-ort", answer);
  const borrowed: string[] = [];
  const models = {
    borrow: async (_: PlacedModel, variant: string, host: DeviceHost) => {
      borrowed.push(host.device.key);
      const release = async () => void borrowed.splice(borrowed.indexOf(host.device.key), 1);
      return { modelKey: variant, loadMs: 1, joins, release };
    },
  } as unknown as ModelLoader;
  const configuration = { ...DEFAULT_CONFIGURATION, maxRows, maxInFlight };
  const context = {
    fleet: { cpu: cpu.device } as never,
    models,
    residency: { read: async () => new Uint8Array() } as never,
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  const opening = openModelSystem(
    { device, model, variant: "fp32", configuration },
    { seed: 1, largestQuery },
    context,
  );
  return { opening, asked, borrowed };
}

it("asks the queue for rows that differ, joined as far as the configuration lets", async () => {
  const { opening, asked, borrowed } = await open();
  const system = await opening;
  expect(system.rows).toBe(8);
  expect(borrowed).toEqual(["gpu0-ort"]);
  asked.splice(0);
  const found = system.within(PATIENT_MS);
  expect(found.maxSamples).toBe(8);
  for (const samples of [1, 8, 3, 1]) await found.query(samples);
  expect(asked.map(([x]) => x?.shape)).toEqual([
    [1, 2],
    [8, 2],
    [3, 2],
    [1, 2],
  ]);
  const [eight] = asked[1]!;
  expect(new Set(typedView(eight!) as Float32Array).size).toBe(16);
  expect(asked[0]).not.toEqual(asked[3]);
  await system.close();
  expect(borrowed).toEqual([]);
});

it("finds out which rows are worth it where the configuration leaves that open", async () => {
  const { opening } = await open({ maxRows: null, largestQuery: 4 });
  expect([1, 2, 4]).toContain((await opening).rows);
});

it.each([
  ["of a model whose rows do not join", { joins: false }],
  ["where no query has more", { largestQuery: 1 }],
])("asks row by row %s", async (_, changes) => {
  const { opening, asked } = await open(changes);
  const system = await opening;
  expect(system.within(PATIENT_MS).maxSamples).toBe(1);
  expect(asked.every(([x]) => x?.shape[0] === 1)).toBe(true);
});

it("lets no more requests be in flight than may, which a server's find out by themselves", async () => {
  const { opening } = await open({ maxInFlight: 1 });
  const system = await opening;
  const patient = system.within(PATIENT_MS);
  await Promise.all([1, 1, 1, 1].map((samples) => patient.query(samples)));
  const impatient = system.within(PATIENT_MS, { beyondCap: "comes" });
  const outcomes = await Promise.allSettled([1, 1, 1].map((samples) => impatient.query(samples)));
  const codes = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason.problem.code : []));
  expect(codes).toEqual(["overloaded", "overloaded"]);
});

it("leaves nothing in the queue when it is closed", async () => {
  const { opening, asked } = await open({ joins: false });
  const system = await opening;
  asked.splice(0);
  const found = system.within(PATIENT_MS);
  const outcomes = Promise.allSettled([1, 1, 1].map((samples) => found.query(samples)));
  await system.close();
  expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(asked).toHaveLength(1);
});

it.each([
  { when: "always", rows: 1, answer: (tensors: readonly Tensor[]) => addUp(tensors, 0.01) },
  {
    when: "in company",
    rows: 8,
    answer: (tensors: readonly Tensor[]) => addUp(tensors, tensors[0]!.shape[0]! > 1 ? 0.01 : 0),
  },
])("is not opened where a device answers wrong $when", async ({ rows, answer }) => {
  const { opening, borrowed } = await open({ answer });
  await expect(opening).rejects.toMatchObject({
    problem: { code: "backend-failed", detail: expect.stringContaining(`fp32 on gpu0-ort, asked with ${rows} row`) },
  });
  expect(borrowed).toEqual([]);
});
