import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { KernelShape, KernelSpec } from "../../kernels/kernel-spec.ts";
import { KERNELS } from "../../kernels/registry.ts";
import { installSoftwareGpu } from "../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { splitProblem } from "../../src/gpu-runner/kernels/dispatch/split-problem.ts";
import { CACHE_DIR } from "./software-gpu-cache.ts";

export interface SplitCase {
  readonly kernel: string;
  readonly shape: KernelShape;
}

/** Small, and of sizes that three does not divide. */
const SHAPES: Readonly<Record<string, KernelShape>> = {
  gemm: { m: 17, n: 9, k: 7 },
  gemv: { m: 50, k: 33 },
  "matmul-bias-activation": { m: 17, n: 9, k: 7 },
  "batched-gemm": { batch: 7, m: 9, n: 5, k: 3 },
  softmax: { rows: 10, columns: 37 },
  layernorm: { rows: 10, columns: 37 },
  mlp: { batch: 256, inputs: 32, hidden: 16, outputs: 16, layers: 2 },
  "mlp-population": { members: 8, samples: 3, inputs: 5, hidden: 6, outputs: 3, layers: 2 },
  conv2d: { batch: 5, height: 5, width: 7, channels: 9, filters: 3, kernel: 3 },
  "depthwise-conv2d": { batch: 5, height: 5, width: 7, channels: 9, kernel: 3 },
  quantize: { channels: 10, length: 100 },
  dequantize: { channels: 10, length: 100 },
  "hrr-encode": { symbols: 10, dimension: 37 },
  "hrr-bind": { pairs: 7, dimension: 256 },
  "hrr-unbind": { pairs: 7, dimension: 24 },
  "hrr-similarity": { pairs: 10, dimension: 37 },
  "hrr-superpose": { groups: 7, vectors: 3, dimension: 37 },
  "hrr-project": { rows: 50, inputs: 8, outputs: 5 },
  "consensus-tally": { ballots: 10, voters: 37, options: 5 },
  "consensus-leader": { elections: 10, candidates: 5 },
  "consensus-conflicts": { sessions: 10, proposals: 37, rounds: 9, proposers: 5 },
  "crowding-distance": { populations: 7, members: 37, objectives: 3 },
  "non-dominated-rank": { populations: 7, members: 37, objectives: 3 },
  "synthesis-match": { trees: 10, nodes: 29, patterns: 7, patternNodes: 9, variables: 3 },
  "synthesis-expand": { trees: 10, nodes: 29, rules: 7, templateNodes: 9, variables: 2, room: 40 },
};

const splittable = [...KERNELS.values()].filter(({ splitBy }) => splitBy !== undefined);
const cases = Object.entries(SHAPES).map(([kernel, shape]): SplitCase => ({ kernel, shape }));
let lines: readonly unknown[] = [];

// In a process of its own, as always: Dawn needs its environment from the start and no worker thread.
beforeAll(async () => {
  const env = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const script = path.join(import.meta.dirname, "split/run-split.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(cases)], { env });
  lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
});

test("every kernel that can be split has a shape here", () => {
  expect(Object.keys(SHAPES).toSorted()).toEqual(splittable.map(({ name }) => name).toSorted());
});

describe.each(splittable)("$name", ({ name, bindings, dimensions, splitBy = "" }) => {
  test("every binding is the same for all parts or falls into equal shares", () => {
    const standard = Object.fromEntries(dimensions.map((dimension) => [dimension.name, dimension.default]));
    const [one = [], two = [], seven = []] = [1, 2, 7].map((count) =>
      bindings.map((binding) => binding.extents({ ...standard, [splitBy]: count })),
    );
    for (const [index, extents] of one.entries()) {
      const [outermost = 1, ...inner] = extents;
      const grows = two[index]![0] !== outermost;
      expect(two[index]).toEqual([grows ? 2 * outermost : outermost, ...inner]);
      expect(seven[index]).toEqual([grows ? 7 * outermost : outermost, ...inner]);
    }
  });

  test("in parts it computes what it computes whole, bit by bit", () => {
    const line = lines[cases.findIndex(({ kernel }) => kernel === name)];
    expect(line).toMatchObject({ kernel: name, same: true, sameRewritten: true, written: true, liveBytes: 0 });
    expect((line as { parts: number }).parts).toBeGreaterThanOrEqual(3);
  });
});

test("the device has every limit of its adapter", () => {
  expect(lines.at(-1)).toEqual({ lower: [] });
});

test("a binding beyond 128 MiB runs where the adapter allows it", () => {
  const { boundBytes, worst } = lines.at(-2) as { boundBytes: number; worst: number };
  expect(boundBytes).toBeGreaterThan(128 * 2 ** 20);
  expect(worst).toBeLessThan(1e-5);
});

describe("splitProblem", () => {
  const softmax = KERNELS.get("softmax")!;
  const shape = { rows: 10, columns: 3 };
  const limits = { maxStorageBufferBindingSize: 1e9, maxBufferSize: 1e9, maxComputeWorkgroupsPerDimension: 65_535 };
  const countsOf = (over: Partial<typeof limits>, kernel: KernelSpec = softmax) =>
    splitProblem({ ...limits, ...over }, kernel, shape, ({ rows = 0 }) => [rows, 1, 1]).map((part) => [
      part.from,
      part.count,
      part.shape["rows"],
    ]);
  const fourAtMost = [
    [0, 4, 4],
    [4, 4, 4],
    [8, 2, 2],
  ];

  test("is whole where everything fits", () => {
    expect(countsOf({})).toEqual([[0, 10, 10]]);
  });

  test.each(["maxStorageBufferBindingSize", "maxBufferSize"] as const)("takes the most that %s allows", (name) => {
    expect(countsOf({ [name]: 4 * 16 + 15 })).toEqual(fourAtMost);
  });

  test("counts workgroups, too", () => {
    expect(countsOf({ maxComputeWorkgroupsPerDimension: 4 })).toEqual(fourAtMost);
  });

  test("leaves alone what cannot be split", () => {
    const { splitBy: _, ...kernel } = softmax;
    expect(countsOf({ maxBufferSize: 79 }, kernel)).toEqual([[0, 1, 10]]);
  });

  test("leaves alone what does not fit in any number of parts", () => {
    expect(countsOf({ maxBufferSize: 12 })).toEqual([[0, 10, 10]]);
  });
});
