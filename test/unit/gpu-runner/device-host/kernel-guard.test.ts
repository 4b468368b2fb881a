import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FailureFile } from "../../../../src/gpu-runner/device-host/failure-file.ts";
import { KernelGuard } from "../../../../src/gpu-runner/device-host/kernel-guard.ts";
import { QUARANTINE_AFTER, QUARANTINE_MS } from "../../../../src/gpu-runner/device-host/quarantine.ts";
import { Device } from "../../../../src/protocol/fleet/hardware.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { capabilities } from "../../../edge/stack/samples.ts";

const logger = { warn: vi.fn<() => void>() };
const host = { device: capabilities.devices[1]!, kernelDigests: { triad: "a" } };
const lost = () => Promise.reject(new ProblemError("device-lost", "It died."));

let folder = "";
let changes = 0;
let guard: KernelGuard;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  folder = await mkdtemp(join(tmpdir(), "millrace-guard-"));
  changes = 0;
  guard = openGuard();
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

function openGuard(): KernelGuard {
  return new KernelGuard(new FailureFile(folder, logger), () => changes++);
}

type Run = Parameters<KernelGuard["run"]>[1]["run"];

async function outcomeOf(run: Run, { signal = new AbortController().signal, on = host, by = guard } = {}) {
  const work = { kernel: "triad", timeoutMs: 2_000, signal, onProgress: () => {}, run };
  return by.run(on, work).then(
    ({ output, faults }) => ({ output, faults }),
    (error: unknown) => (error instanceof ProblemError ? error.problem : error),
  );
}

/** Times out after this long without a message. */
function timeOut(silentMs: number): Run {
  return async ({ onProgress }) => {
    onProgress({ phase: "measure", done: 0, total: 1 });
    vi.advanceTimersByTime(silentMs);
    throw new ProblemError("kernel-timeout", "It hung.");
  };
}

describe("work whose device is lost", () => {
  it("is begun once more, and the answer says so", async () => {
    const run = vi.fn<Run>().mockImplementationOnce(lost).mockResolvedValueOnce("done");
    expect(await outcomeOf(run)).toEqual({
      output: "done",
      faults: [{ code: "device-lost", detail: "It died.", action: "retried" }],
    });
    expect(guard.describe(host)).toBe(host.device);
  });

  it("again, fails", async () => {
    const run = vi.fn<Run>(lost);
    expect(await outcomeOf(run)).toMatchObject({ code: "device-lost" });
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("is not begun again, nor counted, once it is not wanted any more", async () => {
    const controller = new AbortController();
    const run = vi.fn<Run>(() => {
      controller.abort();
      return lost();
    });
    for (let i = 0; i < QUARANTINE_AFTER; i++) await outcomeOf(run, { signal: controller.signal });
    expect(run).toHaveBeenCalledTimes(QUARANTINE_AFTER);
    expect(guard.lockedOutForMs(host, "triad")).toBeNull();
  });
});

describe("a kernel that makes devices fail", () => {
  it("is refused at once from then on, is reported, and comes back after its time", async () => {
    await outcomeOf(lost);
    expect(changes).toBe(0);
    const run = vi.fn<Run>(lost);
    // The third failure locks it out, so that this one is not begun again.
    expect(await outcomeOf(run)).toMatchObject({ code: "kernel-quarantined", retryAfterMs: QUARANTINE_MS[0] });
    expect(run).toHaveBeenCalledTimes(1);
    expect(changes).toBe(1);
    const described = Device.parse(guard.describe(host));
    const until = new Date(Date.now() + QUARANTINE_MS[0]).toISOString();
    expect(described.quarantined).toEqual([{ kernel: "triad", code: "device-lost", failures: 3, until }]);
    expect(await outcomeOf(run)).toMatchObject({ code: "kernel-quarantined" });
    expect(run).toHaveBeenCalledTimes(1);

    vi.advanceTimersByTime(QUARANTINE_MS[0]);
    expect(await outcomeOf(async () => "done")).toEqual({ output: "done", faults: [] });
    expect(guard.describe(host)).toBe(host.device);
    expect(changes).toBe(2);
  });

  it("is remembered on disk, for every device of the fingerprint and no other", async () => {
    for (let i = 0; i < 2; i++) await outcomeOf(lost);
    const reopened = openGuard();
    const twin = { ...host, device: { ...host.device, key: "gpu1" } };
    const { fingerprint } = host.device;
    const other = { ...host, device: { ...host.device, fingerprint: { ...fingerprint, driver: "2" } } };
    expect(reopened.lockedOutForMs(host, "triad")).toBe(QUARANTINE_MS[0]);
    expect(reopened.lockedOutForMs(twin, "triad")).toBe(QUARANTINE_MS[0]);
    expect(reopened.lockedOutForMs(other, "triad")).toBeNull();
    expect(reopened.lockedOutForMs(host, "gemm")).toBeNull();
  });

  it("is let in as another program", async () => {
    for (let i = 0; i < 2; i++) await outcomeOf(lost);
    const changed = { ...host, kernelDigests: { triad: "b" } };
    expect(await outcomeOf(async () => "done", { on: changed })).toEqual({ output: "done", faults: [] });
    expect(guard.describe(host)).toBe(host.device);
  });

  it("by hanging is locked out, too; what is slow but alive, or was never begun, is not", async () => {
    for (let i = 0; i < QUARANTINE_AFTER; i++) await outcomeOf(timeOut(900));
    for (let i = 0; i < QUARANTINE_AFTER; i++) {
      await outcomeOf(() => Promise.reject(new ProblemError("kernel-timeout", "It was not begun.")));
    }
    expect(guard.lockedOutForMs(host, "triad")).toBeNull();
    for (let i = 0; i < QUARANTINE_AFTER; i++) await outcomeOf(timeOut(1_000));
    expect(guard.lockedOutForMs(host, "triad")).toBe(QUARANTINE_MS[0]);
  });

  it.each(["kernel-invalid", "kernel-incorrect", "out-of-memory", "invalid-request"] as const)(
    "is not what fails with %s",
    async (code) => {
      for (let i = 0; i < 2 * QUARANTINE_AFTER; i++) {
        await outcomeOf(() => Promise.reject(new ProblemError(code, "It is wrong.")));
      }
      expect(guard.lockedOutForMs(host, "triad")).toBeNull();
    },
  );
});

describe("the file of failures", () => {
  it("that is damaged counts as empty, and is replaced", async () => {
    await writeFile(join(folder, "failures.json"), "{ broken");
    guard = openGuard();
    await outcomeOf(lost);
    expect(JSON.parse(await readFile(join(folder, "failures.json"), "utf8"))).toBeTypeOf("object");
  });

  it("forgets what counts for nothing any more", async () => {
    const file = new FailureFile(folder, logger);
    const { fingerprint } = host.device;
    const failAt = (kernel: string, nowMs: number) => {
      const record = { digest: "a", failures: 1, code: "device-lost", lastFailureAtMs: nowMs, untilMs: null } as const;
      return file.save(fingerprint, kernel, record, nowMs);
    };
    for (const [kernel, nowMs] of [
      ["first", 0],
      ["second", 1],
      ["third", 3_600_001],
    ] as const)
      await failAt(kernel, nowMs);
    for (const each of [file, new FailureFile(folder, logger)]) {
      expect(each.all(fingerprint).map(([kernel]) => kernel)).toEqual(["second", "third"]);
    }
  });

  it("that cannot be written costs the memory of a restart only", async () => {
    await rm(folder, { recursive: true });
    for (let i = 0; i < 2; i++) await outcomeOf(lost);
    expect(logger.warn).toHaveBeenCalled();
    expect(guard.lockedOutForMs(host, "triad")).toBe(QUARANTINE_MS[0]);
  });
});
