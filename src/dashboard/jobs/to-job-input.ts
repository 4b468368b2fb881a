import type { Sendable } from "../../client/call-options.ts";
import type { JobInput, JobSpec } from "../../protocol/jobs/job.ts";

/**
 * A job to be asked for again, as it was asked for: what the edge filled in is left out, and it finds that anew.
 * Requirements that were of a set are those of then.
 */
export function toJobInput(spec: JobSpec): Sendable<JobInput> {
  switch (spec.kind) {
    case "benchmark": {
      const { reference: _, ...input } = spec;
      return input;
    }
    case "validation": {
      const { requirementSet: _set, modelVersionId: _version, placementId: _place, fidelity: _share, ...input } = spec;
      return input;
    }
    case "optimisation": {
      const { modelVersionId: _version, standing: _standing, fidelities: _shares, ...input } = spec;
      return input;
    }
    case "evaluation": {
      const { entrants, ...input } = spec;
      const population = entrants.find(({ populationId }) => populationId !== undefined)?.populationId;
      return population === undefined
        ? { ...input, policies: entrants.map(({ name }) => name) }
        : { ...input, population };
    }
    case "training": {
      const { archiveFile: _, ...input } = spec;
      return input;
    }
    case "evolution":
      return { ...spec, pool: spec.pool.name };
    case "consensus":
      return { ...spec, pool: spec.pool?.name };
    case "compression": {
      const { modelVersionId: _version, digest: _digest, data: _data, ...input } = spec;
      return input;
    }
    case "throughput":
    case "calibration":
    case "tuning":
    case "probe":
      return spec;
  }
}
