import { sizeOfElites } from "../../../protocol/policies/archive-file.ts";
import type { Algorithm } from "../../../protocol/jobs/training.ts";
import type { StoredArchive } from "../../../protocol/policies/archive.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import type { RolloutEnvironment } from "../../../protocol/fleet/rollout-environment.ts";

/** A requested quality-diversity search, or its training. */
interface Search {
  readonly algorithm: Algorithm;
  readonly network: PolicyNetwork;
}

/** Whether an algorithm keeps its elites in an archive. */
export function hasArchive(algorithm: Algorithm): algorithm is Extract<Algorithm, { name: "map-elites" | "cma-me" }> {
  return algorithm.name === "map-elites" || algorithm.name === "cma-me";
}

/**
 * Faults of a search's archive in an environment whose members have this many parameters; null: unknown at the edge.
 */
export function checkArchive(
  { algorithm }: Search,
  { name, measures }: RolloutEnvironment,
  parameters: number | null,
): FieldError[] {
  if (!hasArchive(algorithm)) return [];
  if (measures === 0) return [{ pointer: "#/environment", message: `must have measures for ${algorithm.name}` }];
  const errors: FieldError[] = [];
  const { dims } = algorithm;
  if (dims !== undefined && dims.length !== measures) {
    errors.push({ pointer: "#/algorithm/dims", message: `must be ${measures}: ${name} has as many measures` });
  }
  const cells = dims?.reduce((product, size) => product * size, 1) ?? 0;
  if (cells > LIMITS.archiveCells) {
    errors.push({ pointer: "#/algorithm/dims", message: `must be at most ${LIMITS.archiveCells} cells in all` });
  }
  const sizeBytes = sizeOfElites(cells, parameters ?? 0, measures);
  if (sizeBytes > LIMITS.jobArtifactBytes) {
    const message = `would make a full archive of ${sizeBytes} bytes, and it may have ${LIMITS.jobArtifactBytes}`;
    errors.push({ pointer: "#/algorithm/dims", message });
  }
  const most = LIMITS.fullCovarianceParameters;
  if (algorithm.name === "cma-me" && algorithm.covariance === "full" && (parameters ?? 0) > most) {
    const message = `can be full for at most ${most} parameters, and here are ${parameters}`;
    errors.push({ pointer: "#/algorithm/covariance", message });
  }
  return errors;
}

/** Faults of an archive as the start of a search in this environment. */
export function checkStart(
  { algorithm, network }: Search,
  { name, measures }: RolloutEnvironment,
  archive: StoredArchive | null,
): FieldError[] {
  const wrong = (message: string) => [{ pointer: "#/archive", message }];
  if (!hasArchive(algorithm)) return wrong(`is for algorithms with an archive, and ${algorithm.name} has none`);
  if (archive === null) return wrong("is no archive");
  if (archive.environment !== name) return wrong(`is of ${archive.environment}, not of ${name}`);
  if (archive.dims.length !== measures) return wrong(`has ${archive.dims.length} measures, not ${measures}`);
  if (JSON.stringify(archive.network) !== JSON.stringify(network)) return wrong("is of another form of network");
  return [];
}
