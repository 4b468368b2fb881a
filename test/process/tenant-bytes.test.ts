/** Nothing of one tenant's work is seen by another's: on real processes, with a pattern that one leaves and one looks for. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { childEnvironment } from "../../src/gpu-runner/device-host/device-child.ts";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { KernelInput } from "../../src/protocol/kernels/submitted-kernel.ts";
import { CACHE_DIR } from "../kernels/software-gpu-cache.ts";
import { problemOf } from "./problem-of.ts";

const HERE = import.meta.dirname;
const PATTERN = 7.25;
const LIMIT_MS = 60_000;
const logger = pino({ level: "silent" });

let host: DeviceHost;
beforeAll(async () => {
  host = await DeviceHost.start({ role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, logger, driver: "software" });
});
afterAll(() => host.stop());

/** Runs the entry points of a submitted kernel, which fill `found`; fails where that is not `expected` everywhere, to the bit. */
async function runProgram(entryPoints: readonly string[], expected: number): Promise<void> {
  const n = 64;
  const definition = KernelInput.parse({
    name: "stranger",
    wgsl: `
      @group(0) @binding(0) var<uniform> n: u32;
      @group(0) @binding(1) var<storage, read_write> found: array<f32>;
      @group(0) @binding(2) var<storage, read_write> room: array<f32>;
      ${VARIABLES}${FILLS_ALL}${LOOKS_EVERYWHERE}`,
    passes: entryPoints.map((entryPoint) => ({ entryPoint, workgroups: [1] })),
    dimensions: [{ name: "n", min: n, max: n, default: n }],
    bindings: [
      { name: "found", access: "write", dtype: "float32", extents: ["n"] },
      { name: "room", access: "scratch", dtype: "float32", extents: [2 ** 18] },
    ],
    limits: { timeoutMs: LIMIT_MS },
    tolerance: { relative: 0, absolute: 0 },
    reference: { kind: "expected", inputs: {}, outputs: { found: Array<number>(n).fill(expected) } },
  });
  const program = { id: createId("kernel"), definition, reference: null };
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: program.id, warmup: 0, iterations: 1 });
  await host.benchmarkProgram(spec, program);
}

const VARIABLES = `
  var<workgroup> shared_words: array<f32, 1024>;
  var<private> own: array<f32, 256>;`;

const FILLS_ALL = `
  @compute @workgroup_size(64)
  fn fill(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < 1024u; i += 64u) { shared_words[i] = ${PATTERN}; }
    for (var i = 0u; i < 256u; i++) { own[i] = ${PATTERN}; }
    for (var i = at.x; i < arrayLength(&room); i += n) { room[i] = shared_words[i % 1024u]; }
    workgroupBarrier();
    found[at.x] = own[at.x % 256u];
  }`;

/**
 * Counts non-zero values in all reachable memory that it has not written: its bindings and far beyond them, and its
 * variables.
 */
const LOOKS_EVERYWHERE = `
  @compute @workgroup_size(64)
  fn look(@builtin(global_invocation_id) at: vec3<u32>) {
    var local: array<f32, 256>;
    var seen = 0u;
    for (var i = 0u; i < 1024u; i++) { if (shared_words[i] != 0.0) { seen++; } }
    for (var i = 0u; i < 256u; i++) { if (own[i] != 0.0 || local[i] != 0.0) { seen++; } }
    for (var i = at.x; i < arrayLength(&room); i += n) { if (room[i] != 0.0) { seen++; } }
    for (var i = 0u; i < 512u; i++) { if (room[arrayLength(&room) + i * 32771u] != 0.0) { seen++; } }
    found[at.x] = f32(seen);
  }`;

test("a submitted kernel finds nothing that another one left", async () => {
  await runProgram(["fill"], PATTERN);
  await runProgram(["look"], 0);
  // One kernel leaves what the other looks for: together they find it.
  expect(await problemOf(runProgram(["fill", "look"], 0))).toMatchObject({ code: "kernel-incorrect" });
});

test("a kernel that is given fewer bytes than it reads finds zeros behind them", async () => {
  const put = (key: string, length: number, value: number) =>
    host.work("putResident", { key, bytes: new Uint8Array(new Float32Array(length).fill(value).buffer) }, LIMIT_MS);
  await put("theirs", 250, PATTERN);
  await host.work("dropResident", { key: "theirs" }, LIMIT_MS);
  // Of the same class of sizes, so it has the same buffer.
  await put("ours", 130, 1);
  const n = 250;
  const inputs = { c: new Float32Array(n) };
  const request = { kernel: "triad", shape: { n }, seed: 1, inputs, resident: { b: "ours" } };
  const { outputs } = await host.work("compute", request, LIMIT_MS);
  expect([...(outputs["a"] ?? [])]).toEqual([...Array<number>(130).fill(1), ...Array<number>(n - 130).fill(0)]);
});

describe("a device's process", () => {
  const run = async (environment: NodeJS.ProcessEnv, ...program: string[]) =>
    (await promisify(execFile)(process.execPath, program, { env: environment })).stdout.trim();

  test("has no memory whose last user's bytes are still in it", async () => {
    const script = `
      for (let round = 0; round < 8; round++) {
        Array.from({ length: 64 }, () => Buffer.allocUnsafeSlow(100_000).fill(0x5a));
        gc();
      }
      const found = Array.from({ length: 64 }, () => Buffer.allocUnsafeSlow(100_000));
      console.log(new Set(found.flatMap((buffer) => [...new Set(buffer)])).size);`;
    // One byte everywhere: the one that memory is filled with.
    expect(await run(childEnvironment(process.env, {}), "--expose-gc", "-e", script)).toBe("1");
  });

  test("answers for the zoo's networks the same whatever is in new memory", async () => {
    const answers = (byte: string) =>
      run(childEnvironment(process.env, { MALLOC_PERTURB_: byte }), path.join(HERE, "answer-zoo.ts"));
    const [one, other] = [await answers("85"), await answers("1")];
    expect(one.split("\n").length).toBeGreaterThan(25);
    expect(one).toBe(other);
  });

  test("does not see the secrets of the runner's environment", async () => {
    vi.stubEnv("MILLRACE_TOKEN", "mt_secret");
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret");
    const told = await run(
      childEnvironment(process.env, { ADDED: "1" }),
      "-e",
      "console.log(JSON.stringify(process.env))",
    );
    vi.unstubAllEnvs();
    expect(JSON.parse(told)).toMatchObject({ ADDED: "1", PATH: process.env["PATH"] });
    expect(told).not.toContain("secret");
  });
});
