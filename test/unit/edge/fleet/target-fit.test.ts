import { describe, expect, it } from "vitest";
import { fitTargets, type MeasuredPlacement, reachesAll } from "../../../../src/edge/fleet/machine-fit.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import type { Profile } from "../../../../src/protocol/fleet/profile.ts";
import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";
import { distribution } from "../../../edge/stack/samples.ts";

const GiB = 2 ** 30;
const hardware = { memoryBytes: 8 * GiB };
const targets = { latencyMs: 5, percentile: 0.5, throughputRps: 2_000, memoryBytes: 32 * GiB };
/** One row in 1 ms, eight in 2, sixty-four in 10. */
const placement: MeasuredPlacement = {
  id: createId("placement"),
  subject: "lenet5@1 int8 on cpu by ort-cpu",
  sweep: [
    { rows: 1, serviceMs: distribution([1, 1, 1]) },
    { rows: 8, serviceMs: distribution([2, 2, 2]) },
    { rows: 64, serviceMs: distribution([10, 10, 10]) },
  ],
  memory: { baseBytes: GiB, bytesPerRow: 2 ** 20 },
  configuration: DEFAULT_CONFIGURATION,
  validated: null,
};
const judge = (wants: Profile["targets"], changes: Partial<MeasuredPlacement> = {}, machine = hardware) =>
  fitTargets({ targets: wants }, machine, [{ ...placement, ...changes }]);
const validated = (requirements: object[], verdict: "pass" | "fail" = "pass") => ({
  runId: createId("run"),
  at: "2026-11-21T12:00:00.000Z",
  verdict,
  serviceMs: distribution([7, 7, 7]),
  requirements: requirements as never,
});

describe("the targets of a profile", () => {
  it("are reached by what was measured, line by line", () => {
    const checks = judge(targets);
    expect(checks.map(({ target, ok, mend }) => [target, ok, mend])).toEqual([
      ["latencyMs", true, null],
      ["throughputRps", true, null],
      ["memoryBytes", true, null],
    ]);
    // Sixty-four rows would be more a second, but not within 5 ms.
    expect(checks[1]).toMatchObject({ found: expect.stringContaining("in batches of 8") });
    expect(checks[1]!.measured).toBeCloseTo(4_000, 0);
    expect(checks[0]).toMatchObject({ placementId: placement.id, subject: placement.subject, wanted: 5 });
    expect(checks[2]).toMatchObject({ placementId: null, measured: GiB + 64 * 2 ** 20 });
    expect(reachesAll(checks)).toBe(true);
  });

  it("are missed with what would mend it", () => {
    const [latency, throughput] = judge({ latencyMs: 0.5, throughputRps: 2_000 });
    expect(latency).toMatchObject({ ok: false, mend: expect.stringContaining("variant") });
    // One row a millisecond is all that is left.
    expect(throughput).toMatchObject({ ok: false, found: expect.stringContaining("in batches of 1") });
    const capped = judge({ throughputRps: 2_000 }, { configuration: { ...DEFAULT_CONFIGURATION, maxRows: 4 } });
    expect(capped[0]).toMatchObject({ ok: false, mend: expect.stringContaining("maxRows") });
    expect(reachesAll(capped)).toBe(false);
  });

  it("are judged by a validation before a calibration", () => {
    expect(judge({ latencyMs: 5 }, { validated: validated([]) })[0]).toMatchObject({
      ok: false,
      found: expect.stringContaining("validated"),
    });
    const proven = [
      { metric: "latencyMs", percentile: 0.9, atMost: 4 },
      { metric: "throughputPerS", atLeast: 9_000 },
    ];
    const wants = { latencyMs: 5, throughputRps: 9_000 };
    expect(judge(wants, { validated: validated(proven) }).map(({ ok }) => ok)).toEqual([true, true]);
    expect(judge(wants, { validated: validated(proven, "fail") }).map(({ ok }) => ok)).toEqual([false, false]);
    const looser = validated([{ metric: "latencyMs", percentile: 0.5, atMost: 6 }]);
    expect(judge({ latencyMs: 5 }, { validated: looser })[0]?.ok).toBe(false);
  });

  it("hold memory to the limit and to what the runner has", () => {
    expect(judge({ memoryBytes: GiB })[0]).toMatchObject({ ok: false });
    expect(judge({ memoryBytes: 32 * GiB }, {}, { memoryBytes: GiB })[0]).toMatchObject({ ok: false });
    const contained = { memoryBytes: 8 * GiB, container: { cores: null, memoryBytes: GiB } };
    expect(fitTargets({ targets: { memoryBytes: 32 * GiB } }, contained, [placement])[0]?.ok).toBe(false);
    expect(judge({ memoryBytes: 32 * GiB }, { memory: null })[0]).toMatchObject({ ok: null });
  });

  it("are not known where nothing is measured", () => {
    const checks = fitTargets({ targets }, hardware, []);
    expect(checks.map(({ target, ok }) => [target, ok])).toEqual([
      ["latencyMs", null],
      ["throughputRps", null],
      ["memoryBytes", true],
    ]);
    expect(reachesAll(checks)).toBeNull();
    expect(fitTargets({ targets: {} }, hardware, [placement])).toEqual([]);
  });
});
