import type { EvolutionResult, EvolutionSpec } from "../../protocol/jobs/evolution.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { findJobArtifact } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { findAgentPool, saveStates, sizeOf, toPooledAgents } from "../store/kernels/agent-pool-store.ts";
import type { InputOf, JobKindModule, JobSurroundings, Prepared, StoredRun } from "./kind.ts";
import { checkKernelKnown } from "./subjects/kernel-devices.ts";

export const evolution: JobKindModule<EvolutionSpec> = {
  prepare,
  target: () => ({ kernel: "evolution-step" }),
  // A pool may have other states by the time the job runs.
  files: ({ pool }) => [pool.digest],
  answers: (spec, { pool }) => pool === spec.pool.name,
  store: storeEvolution,
};

type Evolved = Pick<StoredRun<EvolutionSpec>, "jobId" | "spec"> & {
  readonly result: Pick<EvolutionResult, "generation">;
};

/**
 * Stores the generation in the pool, unless the pool changed since the job was submitted: the job's file has the states
 * in any case. A report of a file that did not arrive, or has another size, changes nothing. Idempotent.
 */
export async function storeEvolution(env: ProjectEnv, { jobId, spec, result }: Evolved): Promise<void> {
  const db = openProject(env);
  const file = await findJobArtifact(db, jobId, "population");
  if (file?.sizeBytes !== sizeOf(spec.pool)) return;
  const { name, version } = spec.pool;
  await saveStates(db, name, version, { digest: file.digest, generation: result.generation });
}

/** Fills in the pool's present state, and checks that there is a fitness for each of its agents. */
async function prepare(
  input: InputOf<EvolutionSpec>,
  { db, announced }: JobSurroundings,
): Promise<Prepared<EvolutionSpec>> {
  const { pool: name, ...fields } = input;
  const pool = await findAgentPool(db, name);
  if (pool === null) {
    const none = { name, digest: null, agents: 1, stateSize: 4, residency: "host", generation: 0, version: 0 } as const;
    const spec = { ...fields, pool: { ...none, minFreeGpu: 0, minFreeHost: 0 } };
    return { spec, errors: [{ pointer: "#/pool", message: "is not the name of an agent pool" }] };
  }
  const errors: FieldError[] = checkKernelKnown("evolution-step", announced);
  const { fitness, objectives } = input;
  const given = fitness ?? objectives ?? [];
  if (given.length !== pool.agents) {
    const message = `must have one entry for each of the ${pool.agents} agents, not ${given.length}`;
    errors.push({ pointer: fitness === undefined ? "#/objectives" : "#/fitness", message });
  }
  const width = objectives?.[0]?.length;
  const uneven = objectives?.findIndex(({ length }) => length !== width) ?? -1;
  if (uneven >= 0)
    errors.push({ pointer: `#/objectives/${uneven}`, message: `must have ${width} numbers, as the first` });
  if (input.lowest > input.highest) errors.push({ pointer: "#/lowest", message: "must not be above highest" });
  return { spec: { ...fields, pool: toPooledAgents(pool) }, errors };
}
