import { describe, expect, it } from "vitest";
import { askAgain } from "../../../src/words/kinds/registry.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { JobInput, JobKind, JobSpec } from "../../../src/protocol/jobs/job.ts";

const subject = { kind: "model", model: "lenet5@1" };
const digest = `sha256:${"0".repeat(64)}`;
const modelVersionId = createId("modelVersion");
const configuration = { threads: 1, maxRows: 8, maxInFlight: 2 };
const row = { digest, offsetBytes: 0, members: 1, parameters: 8, network: { kind: "mlp" } };
const pool = {
  name: "herd",
  digest,
  agents: 4,
  stateSize: 4,
  residency: "host",
  minFreeGpu: 0.1,
  minFreeHost: 0.1,
  generation: 3,
  version: 2,
};

/** Each kind with a caller's input, and with the edge's additions. */
const KINDS: Record<JobKind, { readonly given: object; readonly added: object }> = {
  benchmark: { given: { kernel: "krn_1", shape: { n: 4 }, label: "branch" }, added: { reference: "gemm" } },
  throughput: { given: { kernel: "gemm" }, added: {} },
  calibration: { given: { modelVersionId }, added: {} },
  tuning: { given: { kernel: "gemm", budgetMs: 5_000 }, added: {} },
  validation: {
    given: { subject, scenarios: [{ kind: "singleStream" }], requirements: [{ metric: "latencyMs", atMost: 10 }] },
    added: { requirementSet: "strict", modelVersionId, placementId: createId("placement"), fidelity: 1 },
  },
  optimisation: {
    given: { subject, objective: "latency", targets: { latencyMs: 10, minFidelity: 0.5, percentile: 0.9 }, space: {} },
    added: {
      modelVersionId,
      fidelities: { int8: 0.9 },
      standing: {
        placementId: createId("placement"),
        deviceKey: "cpu",
        backend: "ort-cpu",
        variant: "fp32",
        configuration,
      },
    },
  },
  probe: { given: { deviceKey: "gpu0" }, added: {} },
  evaluation: {
    given: { environment: "cartpole", policies: ["balancer@2", "other@1"] },
    added: { entrants: ["balancer@2", "other@1"].map((name) => ({ name, modelVersionId, ...row })) },
  },
  training: {
    given: { environment: "arm", algorithm: { name: "map-elites" }, archive: createId("archive") },
    added: { archiveFile: { digest, sizeBytes: 9 } },
  },
  evolution: { given: { pool: "herd", fitness: [1, 2, 3, 4] }, added: { pool } },
  consensus: { given: { pool: "herd", options: 2 }, added: { pool } },
  compression: {
    given: { model: "lenet5", version: 1, name: "int8", recipe: { method: "int8" } },
    added: { modelVersionId, digest, data: null },
  },
};

describe("a job that is asked for again", () => {
  it.each(JobKind.options)("is asked for as before: %s", (kind) => {
    const { given, added } = KINDS[kind];
    const asked = JobInput.parse({ kind, ...given });
    const { policies: _, ...kept } = asked as { policies?: unknown };
    const spec = JobSpec.parse({ ...kept, ...added });
    expect(JobInput.parse(askAgain(spec))).toEqual(asked);
  });

  it("names the population that was evaluated", () => {
    const populationId = createId("population");
    const asked = JobInput.parse({ kind: "evaluation", environment: "cartpole", population: populationId });
    const { population: _, ...kept } = asked as { population?: unknown };
    const spec = JobSpec.parse({ ...kept, entrants: [{ ...row, name: "crowd", populationId, members: 9 }] });
    expect(JobInput.parse(askAgain(spec))).toEqual(asked);
  });
});
