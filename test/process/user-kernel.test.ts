import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { KernelProgram } from "../../src/protocol/kernels/kernel-definition.ts";
import type { JobProgress } from "../../src/protocol/jobs/job.ts";
import { type Problem, PROBLEMS, toProblem } from "../../src/protocol/wire/problem.ts";
import { KernelInput } from "../../src/protocol/kernels/submitted-kernel.ts";
import { competitor, expecting, ownReference } from "../edge/stack/kernel-samples.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { childPids } from "./child-pids.ts";

const logged: unknown[] = [];
const note = (...line: unknown[]) => void logged.push(line);

let host: DeviceHost;
beforeAll(async () => {
  const logger = { info: note, warn: note, error: note };
  host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger, driver: "software" });
});
afterAll(() => host.stop());

function programOf(body: object, reference: KernelProgram["reference"] = null): KernelProgram {
  return { id: createId("kernel"), definition: KernelInput.parse(body), reference };
}

const specOf = (changes: object = {}) =>
  BenchmarkSpec.parse({ kind: "benchmark", warmup: 1, iterations: 3, ...changes });

function run(
  program: KernelProgram,
  changes: object = {},
  options: Parameters<DeviceHost["benchmarkProgram"]>[2] = {},
) {
  return host.benchmarkProgram(specOf({ kernel: program.id, ...changes }), program, options);
}

interface Failure {
  readonly problem: Problem;
  /** Phases that were begun: `measure` means that something was timed. */
  readonly phases: readonly string[];
}

async function failureOf(program: KernelProgram, changes: object = {}): Promise<Failure> {
  const phases: string[] = [];
  const onProgress = ({ phase }: JobProgress) => phases.push(phase);
  const problem = await run(program, changes, { onProgress }).then(() => null, toProblem);
  if (problem === null) throw new Error("the kernel passed");
  return { problem, phases };
}

/** The resident process is the one that it was, and a kernel of ours is right in it. */
async function checkUnhurt(pid: number | null): Promise<void> {
  const { correctness } = await host.benchmark(specOf({ kernel: "triad", shape: { n: 1_000 } }));
  expect(correctness.correct).toBe(true);
  expect(host.pid).toBe(pid);
  expect(host.restarts).toBe(0);
}

/** The competitor with another body of its `main`. */
const withBody = (statement: string) => ({
  ...competitor,
  wgsl: competitor.wgsl.replace("{ a[at.x] = b[at.x] + scale * c[at.x]; }", `{ ${statement} }`),
});

describe("a kernel that is right", () => {
  test("against a reference of ours is checked by its f64 answer, on its inputs, and timed", async () => {
    const program = programOf(competitor);
    const measured = await run(program, { shape: { n: 1_001 } });
    expect(measured).toMatchObject({ kernel: program.id, variant: "submitted", shape: { n: 1_001 }, dtype: "float32" });
    expect(measured.correctness).toMatchObject({ correct: true, checkedElements: 1_001 });
    expect(measured.correctness.tolerance).toContain("two roundings");
    expect(measured.wallMs.count).toBe(3);
    expect(measured.gflops).toBeGreaterThan(0);
    const ours = await host.benchmark(specOf({ kernel: "triad", shape: { n: 1_001 } }));
    // The same inputs and the same work, so much the same rounding.
    expect(measured.correctness.maxAbsoluteError).toBeLessThanOrEqual(ours.correctness.maxAbsoluteError * 4);
  });

  test("against WGSL of its own is compared with what that gives here", async () => {
    const { correctness, gflops } = await run(programOf(ownReference));
    expect(correctness).toMatchObject({ correct: true, checkedElements: 1_024 });
    expect(gflops).toBeNull();
  });

  test("against expected outputs is compared with these", async () => {
    const { correctness } = await run(programOf(expecting));
    expect(correctness).toMatchObject({ correct: true, checkedElements: 2, maxAbsoluteError: 0 });
  });

  test("against another's submission competes on its inputs and reference", async () => {
    const { id, definition } = programOf(ownReference);
    const { correctness } = await run(programOf(competitor, { id, definition }));
    expect(correctness).toMatchObject({ correct: true, checkedElements: 1_024 });
  });

  test("may have scratch, several passes, constants, other layouts and all element types", async () => {
    const program = programOf({
      name: "two-passes",
      wgsl: `
        @group(0) @binding(0) var<uniform> size: vec2<u32>;
        @group(0) @binding(1) var<storage, read> bytes: array<u32>;
        @group(0) @binding(2) var<storage, read_write> sums: array<i32>;
        @group(0) @binding(3) var<storage, read_write> rows: array<vec4<i32>>;
        override bias: i32 = 0;
        @compute @workgroup_size(1)
        fn unpack(@builtin(global_invocation_id) at: vec3<u32>) {
          let words = (size.y + 3u) / 4u;
          var row = vec4<i32>();
          for (var i = 0u; i < words; i++) { row += unpack4xI8(bytes[at.x * words + i]); }
          rows[at.x] = row;
        }
        @compute @workgroup_size(1)
        fn add(@builtin(global_invocation_id) at: vec3<u32>) {
          sums[at.x] = dot(rows[at.x], vec4<i32>(1)) + bias;
        }`,
      passes: [
        { entryPoint: "unpack", workgroups: ["m"] },
        { entryPoint: "add", workgroups: [{ max: ["m", 1] }, 1, 1] },
      ],
      constants: { bias: 7 },
      dimensions: [
        { name: "m", min: 2, max: 2, default: 2 },
        { name: "n", min: 5, max: 5, default: 5 },
      ],
      bindings: [
        { name: "bytes", access: "read", dtype: "int8", extents: ["m", "n"], alignment: [1, 4] },
        { name: "sums", access: "write", dtype: "int32", extents: ["m"] },
        { name: "rows", access: "scratch", dtype: "int32", extents: ["m", 4] },
      ],
      tolerance: { relative: 0, absolute: 0 },
      reference: {
        kind: "expected",
        inputs: { bytes: [1, 2, 3, 4, 5, -1, -2, -3, -4, -128] },
        outputs: { sums: [22, -131] },
      },
    });
    const { correctness } = await run(program, { dtype: "int32" });
    expect(correctness).toMatchObject({ correct: true, checkedElements: 2 });
  });
});

describe("a kernel that is wrong", () => {
  test("is reported by the first element, and never timed", async () => {
    const { problem, phases } = await failureOf(programOf(withBody("a[at.x] = b[at.x];")));
    expect(problem.code).toBe("kernel-incorrect");
    expect(problem.detail).toMatch(/^'a'\[0\] is /);
    expect(phases).toEqual(["compile", "check"]);
  });

  test("is reported for every kind of reference", async () => {
    for (const reference of [ownReference, expecting]) {
      const { problem } = await failureOf(programOf({ ...reference, wgsl: withBody("a[at.x] = b[at.x];").wgsl }));
      expect(problem.code).toBe("kernel-incorrect");
    }
  });

  test("leaves nothing of another kernel's answer to pass off as its own", async () => {
    const pid = host.pid;
    await run(programOf(competitor));
    expect((await failureOf(programOf(withBody("")))).problem).toMatchObject({
      code: "kernel-incorrect",
      detail: expect.stringContaining("'a'[0] is NaN"),
    });
    await checkUnhurt(pid);
  });

  test("that does not compile is reported with file, line and column, without its text", async () => {
    const secret = "unmistakable_words_of_the_user";
    const { problem, phases } = await failureOf(programOf(withBody(`let ${secret} = 1; a[at.x] = nonsense;`)));
    expect(problem.code).toBe("kernel-invalid");
    expect(problem.detail).toMatch(/^krn_\w+\/my-triad\.wgsl:9:\d+: unresolved value 'nonsense'/);
    expect(phases).toEqual(["compile"]);
    expect(JSON.stringify([problem, logged])).not.toContain(secret);
  });

  test("in every line has some of them reported", async () => {
    const body = {
      ...competitor,
      wgsl: Array.from({ length: 2_000 }, (_, i) => `var x${i} = y${i}${"z".repeat(9)};`).join("\n"),
    };
    const { problem } = await failureOf(programOf(body));
    expect(problem.code).toBe("kernel-invalid");
    expect(problem.detail.length).toBeLessThan(10_000);
  });

  test.each<[string, object]>([
    ["wants a feature that the device lacks", { ...competitor, wgsl: `enable f16;\n${competitor.wgsl}` }],
    ["has another entry point", { ...competitor, passes: [{ entryPoint: "other", workgroups: [1] }] }],
    ["has no such override", { ...competitor, constants: { speed: 2 } }],
    ["writes what it may read", withBody("b[at.x] = 1.0;")],
    [
      "has a workgroup beyond the device",
      { ...competitor, wgsl: competitor.wgsl.replace("size(64)", "size(1, 1, 4096)") },
    ],
    [
      "binds more than it says",
      {
        ...competitor,
        wgsl: `${competitor.wgsl}\n@group(0) @binding(9) var<storage> z: array<f32>;\n@compute @workgroup_size(1) fn x() { _ = z[0]; }`,
        passes: [{ entryPoint: "x", workgroups: [1] }],
      },
    ],
    [
      "has other extents than its reference",
      {
        ...competitor,
        bindings: competitor.bindings.with(2, { ...competitor.bindings[2]!, extents: ["n", "n"] }),
      },
    ],
  ])("that %s is invalid", async (_, body) => {
    const { problem, phases } = await failureOf(programOf(body));
    expect(problem.code).toBe("kernel-invalid");
    expect(phases).not.toContain("measure");
  });

  test("beyond its own memory is invalid before anything is allocated", async () => {
    const program = programOf({ ...competitor, limits: { maxBytes: 12 * 1_024 } });
    expect((await failureOf(program, { shape: { n: 1_025 } })).problem).toMatchObject({
      code: "kernel-invalid",
      detail: expect.stringContaining("limits/maxBytes is 12288"),
    });
  });
});

describe("a kernel that would cheat", () => {
  const room = { name: "room", access: "scratch", dtype: "float32", extents: ["n"] };
  const withRoom = (statement: string) => ({
    ...ownReference,
    bindings: [...ownReference.bindings, room],
    wgsl: `${withBody(statement).wgsl}\n@group(0) @binding(4) var<storage, read_write> room: array<f32>;`,
    reference: {
      ...ownReference.reference,
      wgsl: `${ownReference.wgsl}\n@group(0) @binding(4) var<storage, read_write> room: array<f32>;`,
    },
  });

  test("finds no trace of its last run", async () => {
    const counting = withRoom("a[at.x] = b[at.x] + scale * c[at.x] + room[at.x]; room[at.x] += 1.0;");
    const { correctness } = await run(programOf(counting));
    expect(correctness.correct).toBe(true);
  });

  test("finds no answer that its reference left", async () => {
    const { problem } = await failureOf(programOf(withRoom("a[at.x] = room[at.x];")));
    expect(problem.code).toBe("kernel-incorrect");
    expect(problem.detail).toMatch(/is 0, the reference says/);
  });

  test("that works for the first check alone is caught by the last", async () => {
    const lazy = withBody("if (bitcast<u32>(a[at.x]) != 0u) { a[at.x] = b[at.x] + scale * c[at.x]; }");
    const { problem, phases } = await failureOf(programOf(lazy));
    expect(problem.code).toBe("kernel-incorrect");
    expect(phases).toEqual(["compile", "check", "warmup", "measure", "recheck"]);
  });
});

test("a kernel that computes what a seed would sample, and no more, is caught", async () => {
  // 2²² elements; the check reads as many as 3·10⁸ operations allow at 102 each.
  const n = 2 ** 22;
  const sampled = 2_941_176;
  const foretelling = {
    ...competitor,
    wgsl: `
      @group(0) @binding(0) var<uniform> n: u32;
      @group(0) @binding(1) var<storage, read> b: array<f32>;
      @group(0) @binding(2) var<storage, read> c: array<f32>;
      @group(0) @binding(3) var<storage, read_write> a: array<f32>;
      fn mix(value: u32) -> u32 {
        var bits = value;
        bits = (bits ^ (bits >> 16)) * 0x7feb352du;
        bits = (bits ^ (bits >> 15)) * 0x846ca68bu;
        return bits ^ (bits >> 16);
      }
      @compute @workgroup_size(256)
      fn main(@builtin(global_invocation_id) at: vec3<u32>) {
        if (at.x >= ${sampled}u) { return; }
        let key = mix(mix(1u) ^ (1000004u * 0x9e3779b9u));
        var element = mix(mix(at.x) ^ key) >> 10;
        if (at.x == 0) { element = 0; }
        if (at.x == ${sampled - 1}u) { element = n - 1; }
        a[element] = b[element] + 3.0 * c[element];
      }`,
    passes: [{ entryPoint: "main", workgroups: [{ ceilDiv: ["n", 256] }] }],
    dimensions: [{ name: "n", min: n, max: n, default: n }],
  };
  const { problem } = await failureOf(programOf(foretelling), { seed: 1 });
  expect(problem).toMatchObject({ code: "kernel-incorrect", detail: expect.stringContaining("is NaN") });
});

describe("a kernel that means harm", () => {
  const endless = withBody("var i = 0u; loop { i += 2u; if (i == 1u) { break; } } a[at.x] = f32(i);");

  test("writes out of bounds without harm to others", async () => {
    const pid = host.pid;
    const wild = withBody(
      "a[at.x] = b[at.x] + scale * c[at.x]; for (var i = 1u; i < 4096u; i++) { a[n + i * 65536u * at.x + i] = 1e30; }",
    );
    // Dawn may drop such a write or turn it onto the last element: right or wrong, the process goes on.
    const outcome = await run(programOf(wild)).then(() => null, toProblem);
    expect([undefined, "kernel-incorrect"]).toContain(outcome?.code);
    await checkUnhurt(pid);
  });

  test("reads out of bounds and learns nothing", async () => {
    // It can read only within its binding: 7, or 0 where the read is dropped. The tolerance allows just these.
    const peeking = {
      ...withBody("a[at.x] = c[n + 1000u + at.x * 65536u] + b[n * 7u];"),
      dimensions: [{ name: "n", min: 2, max: 2, default: 2 }],
      tolerance: { relative: 0, absolute: 3.5 },
      reference: { kind: "expected", inputs: { b: [0, 0], c: [7, 7] }, outputs: { a: [3.5, 3.5] } },
    };
    expect((await run(programOf(peeking))).correctness.checkedElements).toBe(2);
  });

  test("takes its process along: it is not tried again, and the next job runs", async () => {
    const pid = host.pid;
    const begun = Promise.withResolvers<void>();
    const outcome = run(programOf(endless), {}, { onProgress: () => begun.resolve() }).then(() => null, toProblem);
    await begun.promise;
    process.kill((await childPids(process.pid)).find((child) => child !== pid) ?? Number.NaN, "SIGKILL");
    expect(await outcome).toMatchObject({ code: "backend-failed", detail: expect.stringContaining("SIGKILL") });
    expect(PROBLEMS["backend-failed"].retryable).toBe(false);
    await checkUnhurt(pid);
  });

  test("never ends: it is ended, and the next job runs", async () => {
    const pid = host.pid;
    const program = programOf({ ...endless, limits: { timeoutMs: 1_500 } });
    const { problem, phases } = await failureOf(program);
    expect(problem.code).toBe("kernel-timeout");
    expect(problem.detail).toContain("1500 ms");
    expect(phases).not.toContain("measure");
    await checkUnhurt(pid);
  });

  test("ends with the device that it was given", async () => {
    const logger = { info: note, warn: note, error: note };
    const other = await DeviceHost.start({
      role: "gpu",
      deviceKey: "gpu1",
      cacheDir: CACHE_DIR,
      logger,
      driver: "software",
    });
    const program = programOf(endless);
    const begun = Promise.withResolvers<void>();
    const outcome = other.benchmarkProgram(specOf({ kernel: program.id }), program, {
      onProgress: () => begun.resolve(),
    });
    await Promise.all([
      expect(outcome).rejects.toMatchObject({ problem: { code: "cancelled" } }),
      begun.promise.then(() => other.stop()),
    ]);
    expect(await childPids(process.pid)).toEqual([host.pid]);
  });

  test("can be cancelled while it never ends", async () => {
    const pid = host.pid;
    const controller = new AbortController();
    const onProgress = ({ phase }: JobProgress) => phase === "check" && controller.abort();
    const outcome = run(programOf(endless), {}, { onProgress, signal: controller.signal });
    expect(await outcome.then(() => null, toProblem)).toMatchObject({ code: "cancelled" });
    await checkUnhurt(pid);
  });
});

test("kernels that are sent together run one after another", async () => {
  const pid = host.pid;
  const outcomes = await Promise.all([
    run(programOf(competitor)),
    run(programOf(ownReference)),
    host.benchmark(specOf({ kernel: "triad", shape: { n: 64 } })),
  ]);
  expect(outcomes.map(({ correctness }) => correctness.correct)).toEqual([true, true, true]);
  await checkUnhurt(pid);
});
