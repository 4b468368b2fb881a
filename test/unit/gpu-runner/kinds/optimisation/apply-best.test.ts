import { expect, it } from "vitest";
import { applyBest } from "../../../../../src/gpu-runner/kinds/optimisation/apply-best.ts";
import type { WorkloadContext } from "../../../../../src/gpu-runner/kinds/kind.ts";
import { createId } from "../../../../../src/protocol/wire/id.ts";
import {
  type Candidate,
  OptimisationSpec,
  type OptimisationTrial,
} from "../../../../../src/protocol/jobs/optimisation.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION } from "../../../../../src/protocol/fleet/serving.ts";

const PLACE = { deviceKey: "cpu", backend: "ort-cpu", variant: "fp32" } as const;
const spec = OptimisationSpec.parse({
  kind: "optimisation",
  subject: { kind: "model", model: "digits" },
  objective: "throughput",
  targets: {},
  space: {},
  apply: true,
  standing: { ...PLACE, placementId: createId("placement"), configuration: DEFAULT_CONFIGURATION },
});
const trialOf = (threads: number) => {
  const candidate: Candidate = { ...PLACE, threads, maxRows: 1, concurrency: 1 };
  return { candidate, fidelity: 1 } as OptimisationTrial;
};
const trials = [trialOf(1), trialOf(2)];

/** A runner whose device has gone. */
const context = {
  model: { modelVersionId: createId("modelVersion"), variants: [], inputs: [], outputs: [] },
  fleet: {
    find: () => {
      throw new ProblemError("device-lost", "It is gone.");
    },
  },
  signal: new AbortController().signal,
} as unknown as WorkloadContext;

it("keeps what a search found where a validation cannot be done, and says why it is not applied", async () => {
  const applied = await applyBest(spec, { best: 1, trials, default: 0 }, context);
  expect(applied).toMatchObject({ applied: false, before: null, after: null, configuration: { threads: 2 } });
  expect(applied.detail).toContain("validation before could not be done. It is gone.");
});

it("applies nothing where nothing reaches the targets, or what is served is the best", async () => {
  expect((await applyBest(spec, { best: null, trials, default: 0 }, context)).detail).toContain("Nothing reaches");
  expect((await applyBest(spec, { best: 0, trials, default: 0 }, context)).detail).toContain("is the best");
});
