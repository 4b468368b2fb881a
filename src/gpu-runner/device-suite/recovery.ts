import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { DeviceHost } from "../device-host/device-host.ts";
import { toDeviceName } from "../host/hardware/device-names.ts";
import type { Check, Part, SuiteContext } from "./check.ts";
import { ENDLESS, submitEndless } from "./endless/endless-kernel.ts";
import { runCheck } from "./run-check.ts";

const PART = "recovery";
/** Time after which the product ends a hung kernel here. */
const HANG_LIMIT_MS = 3_000;
const CHECK_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 5_000;
/** Room for the ordinary benchmark and for no copy of the largest size. */
const MEMORY_BYTES = 2 ** 27;

const ORDINARY = BenchmarkSpec.parse({
  kind: "benchmark",
  kernel: "gemm",
  shape: { m: 128, n: 128, k: 128 },
  warmup: 1,
  iterations: 5,
});

type Scenario = (host: DeviceHost, signal: AbortSignal) => Promise<Record<string, number | string>>;

/**
 * Faults and what follows them, each on a device process of its own beside the suite's: a dispatch that never ends, a
 * killed process, and more memory than there may be. The product has to name the fault in time, and a benchmark right
 * afterwards has to be correct. None of the processes may be left.
 */
export const recovery: Part = async function* recoveryPart(context) {
  const scenarios: Record<string, Scenario> = {
    "endless kernel": meetEndlessKernel,
    "endless submitted kernel": meetEndlessSubmission,
    "killed process": meetKill,
    "too much memory": meetMemoryLimit,
  };
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (!context.done(name)) yield await checkRecovery(context, name, scenario);
  }
  const name = "the suite's own process";
  if (!context.done(name)) {
    yield await runCheck({ part: PART, name, limitMs: CHECK_LIMIT_MS }, context, async (signal) => ({
      figures: await timeOrdinary(context.host, signal),
    }));
  }
};

/** Runs a scenario on a new process. It has ended afterwards, together with all that replaced it or ran beside it. */
export function checkRecovery(context: SuiteContext, name: string, scenario: Scenario): Promise<Check> {
  return runCheck({ part: PART, name, limitMs: CHECK_LIMIT_MS }, context, async (signal) => {
    const startedMs = performance.now();
    const before = countChildren();
    const host = await openBeside(context.host);
    const startMs = performance.now() - startedMs;
    let figures: Record<string, number | string>;
    try {
      await timeOrdinary(host, signal);
      figures = { startMs, ...(await scenario(host, signal)) };
    } catch (error) {
      await endProcesses(host, before);
      throw error;
    }
    const left = await endProcesses(host, before);
    if (left > 0) throw new Error(`${left} of its processes did not end.`);
    return { figures };
  });
}

/** Another process on the same adapter. */
function openBeside({ device, adapters, environment }: DeviceHost): Promise<DeviceHost> {
  const adapter = adapters.find((each) => toDeviceName(each) === device.name);
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  return DeviceHost.start({
    role: "gpu",
    deviceKey: `${device.key}-beside`,
    entry: new URL("endless/endless-device.ts", import.meta.url),
    environment,
    // With the driver given, there is no folder to unpack one to.
    cacheDir: tmpdir(),
    memoryBytes: MEMORY_BYTES,
    logger,
    ...(adapter !== undefined && { adapter }),
  });
}

/** The driver may end the dispatch before the product's limit does, which ends the process, too. */
const meetEndlessKernel: Scenario = async (host, signal) => {
  const spec = { ...ORDINARY, kernel: ENDLESS.name, shape: {}, timeoutMs: HANG_LIMIT_MS };
  const hang = () => host.benchmark(spec, { signal });
  return meetFault(host, hang, ["kernel-timeout", "device-lost"], "another", signal);
};

const meetEndlessSubmission: Scenario = async (host, signal) => {
  const program = await submitEndless(HANG_LIMIT_MS);
  const spec = { ...ORDINARY, kernel: program.id, shape: {} };
  const hang = () => host.benchmarkProgram(spec, program, { signal });
  return meetFault(host, hang, ["kernel-timeout", "backend-failed"], "same", signal);
};

const meetKill: Scenario = async (host, signal) => {
  const spec = { ...ORDINARY, iterations: 10_000, timeoutMs: CHECK_LIMIT_MS };
  let killed = false;
  const onProgress = ({ phase }: { readonly phase: string }) => {
    if (phase !== "measure" || killed || host.pid === null) return;
    killed = true;
    process.kill(host.pid, "SIGKILL");
  };
  return meetFault(host, () => host.benchmark(spec, { onProgress, signal }), ["device-lost"], "another", signal);
};

const meetMemoryLimit: Scenario = async (host, signal) => {
  const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "copy", shape: { n: 2 ** 25 }, iterations: 1 });
  return meetFault(host, () => host.benchmark(spec, { signal }), ["out-of-memory", "kernel-invalid"], "same", signal);
};

/**
 * Times a fault, the wait for the next life, and a benchmark in it. Throws where the fault has another name, or where
 * the process is not the same or another one, as it should be.
 */
async function meetFault(
  host: DeviceHost,
  fail: () => Promise<unknown>,
  expected: readonly ProblemCode[],
  nextProcess: "same" | "another",
  signal: AbortSignal,
): Promise<Record<string, number | string>> {
  const { pid, restarts } = host;
  const startedMs = performance.now();
  const error = await fail().then(
    () => null,
    (reason: unknown) => reason,
  );
  const faultMs = performance.now() - startedMs;
  if (error === null) throw new Error("It ended as if nothing were wrong.");
  if (!(error instanceof ProblemError) || !expected.includes(error.problem.code)) throw error;
  // Answered once a process is ready.
  await host.readPool(signal);
  const readyMs = performance.now() - startedMs - faultMs;
  const { benchmarkMs } = await timeOrdinary(host, signal);
  if ((host.pid === pid) !== (nextProcess === "same")) {
    throw new Error(
      `After '${error.problem.code}' the process should be ${nextProcess}: it was ${pid} and is ${host.pid}.`,
    );
  }
  const { code, detail } = error.problem;
  return { fault: code, detail, faultMs, readyMs, benchmarkMs: benchmarkMs!, restarts: host.restarts - restarts };
}

/** Time of an ordinary benchmark, which fails unless its outputs are those of the reference. */
async function timeOrdinary(host: DeviceHost, signal: AbortSignal): Promise<Record<string, number>> {
  const startedMs = performance.now();
  const { correctness } = await host.benchmark(ORDINARY, { signal });
  return { benchmarkMs: performance.now() - startedMs, checkedElements: correctness.checkedElements };
}

/** Stops a device and returns how many children of this process there are some seconds later, beyond those before. */
async function endProcesses(host: DeviceHost, before: number): Promise<number> {
  const untilMs = performance.now() + STOP_LIMIT_MS;
  await Promise.race([host.stop(), delay(STOP_LIMIT_MS)]);
  while (countChildren() > before && performance.now() < untilMs) await delay(50);
  return Math.max(0, countChildren() - before);
}

/** Children of this process that it waits for, as it does for all of a device. */
function countChildren(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
}
