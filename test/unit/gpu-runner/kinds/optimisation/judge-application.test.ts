import { describe, expect, it } from "vitest";
import {
  isServedSo,
  judgeApplication,
  listValidation,
} from "../../../../../src/gpu-runner/kinds/optimisation/judge-application.ts";
import { OptimisationSpec } from "../../../../../src/protocol/jobs/optimisation.ts";
import { DEFAULT_CONFIGURATION } from "../../../../../src/protocol/fleet/serving.ts";
import { type ValidationResult, ValidationSpec } from "../../../../../src/protocol/jobs/validation.ts";
import { answerValidation } from "../../../../edge/stack/job-answers.ts";

const STANDING = {
  deviceKey: "cpu",
  backend: "ort-cpu",
  variant: "fp32",
  configuration: DEFAULT_CONFIGURATION,
} as const;
const FOUND = { ...STANDING, configuration: { threads: 2, maxRows: 8, maxInFlight: null } };
const spec = (targets: object, more: object = {}) =>
  OptimisationSpec.parse({
    kind: "optimisation",
    subject: { kind: "model", model: "lenet5@1" },
    objective: "throughput",
    targets,
    space: {},
    ...more,
  });

/** A validation whose concurrent queries processed this many samples a second. */
function validated(samplesPerS: number, changes: Partial<ValidationResult> = {}): ValidationResult {
  const result = answerValidation({ subject: { kind: "model", model: "lenet5@1" } });
  const [single] = result.scenarios;
  const percentiles = [{ percentile: 0.99, ms: 1_000 / samplesPerS, lowMs: null, highMs: null, confidence: 0.98 }];
  const offline = { ...single!, scenario: { kind: "offline" as const, minDurationMs: 100 }, samplesPerS };
  return { ...result, scenarios: [{ ...single!, percentiles }, offline], ...changes };
}

describe("a configuration that was found", () => {
  it("is applied where it is no worse than what is served, but for noise", () => {
    for (const objective of ["throughput", "latency"] as const) {
      const judge = (after: number) =>
        judgeApplication(STANDING, FOUND, spec({}, { objective }), {
          before: validated(1_000),
          after: validated(after),
        });
      expect(judge(1_200)).toMatchObject({ applies: true, detail: expect.stringContaining("from now on") });
      expect(judge(960).applies).toBe(true);
      expect(judge(940)).toMatchObject({ applies: false, detail: expect.stringContaining("worse than before") });
    }
  });

  it("is not applied where the validation after misses a target, or is undecided", () => {
    const verdict = {
      requirement: { metric: "latencyMs" as const, atMost: 1 },
      scenario: null,
      path: null,
      measured: 2,
      low: null,
      high: null,
      margin: -1,
      detail: "Too slow.",
    };
    for (const outcome of ["fail", "insufficient"] as const) {
      const after = validated(9_000, { verdicts: [{ ...verdict, outcome }] });
      const { applies, detail } = judgeApplication(STANDING, FOUND, spec({}), { before: validated(1), after });
      expect([applies, detail]).toEqual([false, expect.stringContaining("Too slow.")]);
    }
  });

  it("on another placement is said to be on another", () => {
    const other = { ...FOUND, variant: "int8" };
    const { applies, detail } = judgeApplication(STANDING, other, spec({}), {
      before: validated(1),
      after: validated(2),
    });
    expect(applies).toBe(true);
    expect(detail).toMatch(/placement of int8 by ort-cpu on cpu.*another than requests got/);
    expect(isServedSo(STANDING, { ...STANDING })).toBe(true);
    expect(isServedSo(STANDING, FOUND)).toBe(false);
    expect(isServedSo(STANDING, { ...STANDING, variant: "int8" })).toBe(false);
  });
});

describe("the validation that bears targets out", () => {
  it("has a server scenario where latency and throughput are wanted together", () => {
    const wanted = { latencyMs: 10, throughputPerS: 500, percentile: 0.9, memoryBytes: 1e9, minFidelity: 0.9 };
    const validation = ValidationSpec.parse(listValidation(spec(wanted), FOUND, null, 1));
    expect(validation.scenarios.map(({ kind }) => kind)).toEqual(["singleStream", "offline", "server"]);
    expect(validation.scenarios[2]).toMatchObject({ ratePerS: 500, boundMs: 10, percentile: 0.9 });
    expect(validation.requirements).toEqual([
      { metric: "latencyMs", percentile: 0.9, scenario: "server", atMost: 10 },
      { metric: "throughputPerS", scenario: "offline", atLeast: 500 },
      { metric: "memoryBytes", atMost: 1e9 },
      { metric: "fidelity", atLeast: 0.9 },
    ]);
    expect(validation).toMatchObject({ configuration: FOUND.configuration, deviceKey: "cpu", fidelity: 1 });
  });

  it("asks single queries for a latency alone, and requires nothing where there is no target", () => {
    const alone = ValidationSpec.parse(listValidation(spec({ latencyMs: 10 }), FOUND, null, null));
    expect(alone.requirements).toEqual([
      { metric: "latencyMs", percentile: 0.99, scenario: "singleStream", atMost: 10 },
    ]);
    expect(ValidationSpec.parse(listValidation(spec({}), FOUND, null, null)).requirements).toEqual([]);
  });
});
