import type { JobInput, JobSpec } from "../../protocol/job.ts";
import type { FieldError } from "../../protocol/problem.ts";
import { findAgentPool, toPooledAgents } from "../store/agent-pool-store.ts";
import type { JobSurroundings, Prepared } from "./prepare-spec.ts";
import { checkKernelKnown } from "./check-kernel-known.ts";

type Input = Extract<JobInput, { kind: "evolution" }>;
type Spec = Extract<JobSpec, { kind: "evolution" }>;

/** Fills in the pool as it is now, and checks that there is a fitness for each of its agents. */
export async function prepareEvolution(input: Input, { db, announced }: JobSurroundings): Promise<Prepared<Spec>> {
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
