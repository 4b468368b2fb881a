import { describe, expect, it } from "vitest";
import { writeSamples } from "../../../../src/gpu-runner/kinds/steps/describe-run.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { RunSamples } from "../../../../src/protocol/history/run.ts";

describe("samples on their way", () => {
  it("are those that were timed", () => {
    const text = writeSamples("triad", [
      { metric: "wallMs", clock: "runner-wall", valuesMs: Float64Array.of(0.1, 2) },
      { metric: "gpuMs", clock: "gpu-timestamp", valuesMs: null },
    ]);
    expect(RunSamples.parse(JSON.parse(text ?? ""))).toEqual({
      measurements: [{ subject: "triad", metric: "wallMs", unit: "ms", clock: "runner-wall", values: [0.1, 2] }],
    });
  });

  it("fit for the longest benchmark, and stay behind where they would be over the limit", () => {
    const timed = (count: number) => {
      const valuesMs = Float64Array.from({ length: count }, (_, i) => 1 / (i + 3));
      return (["wallMs", "gpuMs"] as const).map((metric) => ({ metric, clock: "runner-wall" as const, valuesMs }));
    };
    expect(writeSamples("triad", timed(LIMITS.maxIterations))).not.toBeNull();
    expect(writeSamples("triad", timed(LIMITS.samplesBytes / 20))).toBeNull();
  });
});
