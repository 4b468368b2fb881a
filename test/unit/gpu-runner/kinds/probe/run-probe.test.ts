import { describe, expect, it } from "vitest";
import { runProbe } from "../../../../../src/gpu-runner/kinds/probe/run-probe.ts";
import { ProbeResult, ProbeSpec } from "../../../../../src/protocol/jobs/probe.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import { capabilities } from "../../../../edge/stack/samples.ts";

type Probe = (onProgress: (progress: { phase: string; done: number; total: number }) => void) => Promise<unknown>;

async function run(probe: Probe) {
  const [cpu, gpu] = capabilities.devices.map((device) => ({
    host: {
      device,
      probe: (_: unknown, __: number, { onProgress }: { onProgress: Parameters<Probe>[0] }) => probe(onProgress),
    },
  }));
  const fleet = { all: () => [cpu, gpu], cpu, use: (_: unknown, work: () => unknown) => work() };
  const context = { fleet, hardware: capabilities.hardware, otherJobs: 0, onProgress: () => {} };
  const { result } = await runProbe(ProbeSpec.parse({ kind: "probe" }), context as never);
  return ProbeResult.parse(result);
}

describe("a probe", () => {
  it("is ok where every claim holds", async () => {
    const claim = { claim: "atomics", claimed: "there", found: "there", ok: true };
    expect(await run(async () => [claim])).toMatchObject({ ok: true, environment: { deviceKey: "gpu0" } });
    expect((await run(async () => [claim, { ...claim, ok: false }])).ok).toBe(false);
  });

  it("names the claim under which the device's process died", async () => {
    const result = await run(async (onProgress) => {
      onProgress({ phase: "maxComputeWorkgroupStorageSize", done: 3, total: 9 });
      throw new ProblemError("device-lost", "The device's process ended (SIGSEGV)");
    });
    expect(result.ok).toBe(false);
    expect(result.claims).toMatchObject([
      { claim: "maxComputeWorkgroupStorageSize", found: "The device's process ended (SIGSEGV)", ok: false },
    ]);
  });

  it("fails where it took too long", async () => {
    const late = run(() => Promise.reject(new ProblemError("kernel-timeout", "late")));
    await expect(late).rejects.toThrow("late");
  });
});
