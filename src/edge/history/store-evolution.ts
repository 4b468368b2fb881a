import type { EvolutionResult } from "../../protocol/evolution.ts";
import type { ProjectEnv } from "../config.ts";
import { saveStates, sizeOf } from "../store/agent-pool-store.ts";
import { openProject } from "../store/database.ts";
import { findJobArtifact } from "../store/job-artifact-store.ts";
import type { RunInput } from "../store/run-store.ts";

/**
 * Gives the pool the generation that was made, unless it was changed since the job was submitted: the states are in the
 * job's file in any case. What a runner says of a file that did not arrive, or is of another size, changes nothing.
 * Doing it twice changes nothing.
 */
export async function storeEvolution(
  env: ProjectEnv,
  { jobId, spec }: Pick<RunInput, "jobId" | "spec">,
  { generation }: Pick<EvolutionResult, "generation">,
): Promise<void> {
  if (spec.kind !== "evolution") return;
  const db = openProject(env);
  const file = await findJobArtifact(db, jobId, "population");
  if (file?.sizeBytes !== sizeOf(spec.pool)) return;
  const { name, version } = spec.pool;
  await saveStates(db, name, version, { digest: file.digest, generation });
}
