import { encodeArchive } from "../../../src/protocol/policies/archive-file.ts";
import { createEpisodesFile, writeEpisode } from "../../../src/protocol/jobs/evaluation/episodes-file.ts";
import type { EvaluationResult } from "../../../src/protocol/jobs/evaluation/evaluation.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import type { OptimisationResult } from "../../../src/protocol/jobs/optimisation.ts";
import type { TrainingResult } from "../../../src/protocol/jobs/training.ts";
import type { ValidationResult } from "../../../src/protocol/jobs/validation.ts";
import { benchmarkResult } from "../stack/samples.ts";
import type { Tenant } from "./tenant.ts";
import { balance, trainingResult } from "../stack/training-samples.ts";
import { optimisationResult, validationResult } from "../stack/validation-samples.ts";

const estimate = { value: 0.5, low: 0.4, high: 0.6 };

/** An archive of one elite, as a training leaves it. */
export function archiveResult(): {
  file: Uint8Array<ArrayBuffer>;
  qualityDiversity: NonNullable<TrainingResult["qualityDiversity"]>;
} {
  const description = {
    environment: "balance",
    network: { kind: "direct" },
    parameters: 1,
    dims: [2],
    ranges: [{ low: 0, high: 1 }],
    offset: 0,
    prunedFrom: null,
  } as const;
  const one = Float32Array.of(1);
  const elites = { cells: Uint32Array.of(0), fitness: one, measures: Float32Array.of(0.25), thresholds: one };
  const { summary, bytes } = encodeArchive(
    { ...description, dims: [2], ranges: [...description.ranges] },
    { ...elites, genomes: one },
  );
  return { file: bytes, qualityDiversity: { archive: summary, covariance: null, restarts: 0 } };
}

/** The result of an evaluation whose file its runner left: each episode had a return of one. */
export async function episodesOf(tenant: Tenant, offer: Offer): Promise<EvaluationResult> {
  const { spec } = offer;
  if (spec.kind !== "evaluation") throw new Error(`a job ${spec.kind} has no episodes`);
  const { episodes, seed, commonRandom, entrants } = spec;
  const file = createEpisodesFile(entrants.length * episodes);
  for (let place = 0; place < entrants.length * episodes; place++) {
    const [entrant, episode] = [Math.floor(place / episodes), place % episodes];
    writeEpisode(new DataView(file.buffer), place, { entrant, member: 0, episode, return: 1, length: 9, cause: 1 });
  }
  const { name, digest, scores } = balance;
  const found = { mean: estimate, iqm: estimate, median: estimate, optimalityGap: estimate };
  const profile = [0, 0.5, 1].map((tau) => ({ ...estimate, tau }));
  return {
    kind: "evaluation",
    task: { name, digest: digest! },
    episodes,
    seed,
    commonRandom,
    entrants: entrants.map(({ name: entrant, members, modelVersionId = null }) => ({
      name: entrant,
      modelVersionId,
      members,
      scores: { ...found, profile, resamples: 50_000, seed: 1 },
      meanLength: 9,
      causes: { terminated: members * episodes, truncated: 0, both: 0 },
      failed: [],
      failedMembers: 0,
      best: [],
    })),
    waves: 1,
    replay: null,
    throughput: trainingResult().throughput,
    scores,
    proof: { steps: 64, agreeing: 64, largestDifference: 1e-7 },
    artifact: await tenant.leave(offer, "episodes", file),
    environment: benchmarkResult().environment,
  };
}

/** A validation of the offered spec. */
export function validationOf({ spec }: Offer): ValidationResult {
  if (spec.kind !== "validation") throw new Error(`a job ${spec.kind} validates nothing`);
  const { subject, modelVersionId = null, placementId = null } = spec;
  const { place } = validationResult();
  return validationResult({ subject, modelVersionId, place: { ...place, placementId } });
}

/** A search over the offered spec. */
export function optimisationOf({ spec }: Offer): OptimisationResult {
  if (spec.kind !== "optimisation") throw new Error(`a job ${spec.kind} optimises nothing`);
  return optimisationResult({ subject: spec.subject, modelVersionId: spec.modelVersionId ?? null });
}
