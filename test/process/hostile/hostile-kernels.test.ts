/**
 * Effects of a stranger's kernel on a device that serves others, and the errors that these get: on real processes.
 * user-kernel.test.ts has more.
 */
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { type Problem, toProblem } from "../../../src/protocol/wire/problem.ts";
import { KernelInput } from "../../../src/protocol/kernels/submitted-kernel.ts";
import { typedView } from "../../../src/protocol/wire/tensor.ts";
import { competitor } from "../../edge/stack/kernel-samples.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { victimFile } from "./hostile-files.ts";

let host: DeviceHost;
beforeAll(async () => {
  host = await DeviceHost.start({
    role: "gpu",
    deviceKey: "gpu0",
    cacheDir: CACHE_DIR,
    logger: pino({ level: "silent" }),
    driver: "software",
    processBytes: 3 * 2 ** 29,
    runLimitMs: 120_000,
  });
  await host.loadModel({ modelKey: "victim", read: async () => victimFile });
});
afterAll(() => host.stop());

async function expectServed(): Promise<void> {
  const bytes = new Uint8Array(Float32Array.of(3).buffer);
  const x = { name: "x", dtype: "float32" as const, shape: [1, 1], bytes };
  const { tensors } = await host.infer("victim", [x], { requestId: "req_victim" });
  expect([...typedView(tensors[0]!)]).toEqual([7]);
}

/** The kernel's problem, null where it is right. Others are answered all the while, by the process that served them before. */
async function meetOthers(body: object, shape = {}): Promise<Problem | null> {
  const { pid, restarts } = host;
  const definition = KernelInput.parse(body);
  const program = { id: createId("kernel"), definition, reference: null };
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: program.id, shape, warmup: 0, iterations: 1 });
  const done = new AbortController();
  const harm = host
    .benchmarkProgram(spec, program)
    .then(() => null, toProblem)
    .finally(() => done.abort());
  do await expectServed();
  while (!done.signal.aborted);
  await expectServed();
  expect(host).toMatchObject({ pid, restarts });
  return harm;
}

const withCode = (code: string, statement: string, timeoutMs = 60_000) => ({
  ...competitor,
  limits: { timeoutMs },
  wgsl: `${code}\n${competitor.wgsl.replace("{ a[at.x] = b[at.x] + scale * c[at.x]; }", `{ ${statement} }`)}`,
});

/** Each function calls the next one twice: 2³⁰ calls where a compiler puts them all into each other. */
const calls = Array.from(
  { length: 30 },
  (_, i) => `fn f${i}(x: f32) -> f32 { return f${i + 1}(x) + f${i + 1}(x * 0.5); }`,
);
const cases = Array.from({ length: 600 }, (_, i) => `case ${i}u: { y += ${i}.5; }`);

test.each<[string, object, readonly string[]]>([
  [
    "never ends",
    withCode("", "var i = 0u; loop { i += 2u; if (i == 1u) { break; } } a[at.x] = f32(i);", 4_000),
    ["kernel-timeout"],
  ],
  [
    "gives NaN and infinities",
    withCode("", "a[at.x] = (b[at.x] - b[at.x]) / (c[at.x] - c[at.x]) + 1e38 * f32(n);"),
    ["kernel-incorrect"],
  ],
  ["is nested deeply", withCode("", `a[at.x] = ${"(".repeat(20_000)}1.0${")".repeat(20_000)};`), ["kernel-invalid"]],
  [
    "has functions that grow as they are compiled",
    withCode(`${calls.join("\n")} fn f30(x: f32) -> f32 { return sin(x); }`, "a[at.x] = f0(b[at.x]);", 4_000),
    ["kernel-timeout", "out-of-memory", "backend-failed"],
  ],
  [
    "has a switch of hundreds of cases",
    withCode("", `var y = 0.0; switch (at.x % 700u) { ${cases.join(" ")} default: {} } a[at.x] = y;`),
    ["kernel-incorrect", "kernel-timeout"],
  ],
  [
    "has constants of a gigabyte",
    withCode("const big = array<array<f32, 16384>, 16384>();", "a[at.x] = big[at.x % 16384u][at.x];"),
    ["kernel-invalid", "kernel-timeout", "out-of-memory", "backend-failed"],
  ],
  [
    "has variables of a gigabyte",
    withCode(
      "var<private> big: array<array<f32, 16384>, 16384>;",
      "big[at.x % 16384u][at.x] = 1.0; a[at.x] = big[at.x][at.x % 4096u];",
    ),
    ["kernel-invalid", "kernel-timeout", "out-of-memory", "backend-failed", "kernel-incorrect"],
  ],
  [
    "has a workgroup's memory of a gigabyte",
    withCode("var<workgroup> big: array<f32, 268435456>;", "big[at.x] = 1.0; a[at.x] = big[at.x + 1u];"),
    ["kernel-invalid"],
  ],
])("a kernel that %s harms itself alone", async (_, body, codes) => {
  const problem = await meetOthers(body);
  expect(codes).toContain(problem?.code);
});

test("a kernel of 100 GB is refused before anything is asked for", async () => {
  const dimensions = [{ name: "n", min: 1, max: 2 ** 32 - 1, default: 1_024 }];
  const problem = await meetOthers({ ...competitor, dimensions }, { n: 25e8 * 1.6 });
  expect(problem).toMatchObject({ code: "kernel-invalid", detail: expect.stringContaining("maxBytes") });
});

test("a kernel of as many outputs and passes as there may be runs like any other", async () => {
  const outputs = Array.from({ length: 8 }, (_, i) => ({
    name: `y${i}`,
    access: "write",
    dtype: "float32",
    extents: ["n"],
  }));
  const variables = outputs.map(
    ({ name }, i) => `@group(0) @binding(${i + 1}) var<storage, read_write> ${name}: array<f32>;`,
  );
  const problem = await meetOthers({
    name: "many",
    wgsl: `
      @group(0) @binding(0) var<uniform> n: u32;
      ${variables.join("\n")}
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) at: vec3<u32>) {
        if (at.x < n) { ${outputs.map(({ name }) => `${name}[at.x] = 1.0;`).join(" ")} }
      }`,
    passes: Array.from({ length: 16 }, () => ({ entryPoint: "main", workgroups: [{ ceilDiv: ["n", 64] }] })),
    dimensions: [{ name: "n", min: 4, max: 4, default: 4 }],
    bindings: outputs,
    tolerance: { relative: 0, absolute: 0 },
    reference: {
      kind: "expected",
      inputs: {},
      outputs: Object.fromEntries(outputs.map(({ name }) => [name, [1, 1, 1, 1]])),
    },
  });
  expect(problem).toBeNull();
});
