import type { Placement } from "../../protocol/models/model.ts";
import { isSameConfiguration, type ServingConfiguration } from "../../protocol/fleet/serving.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv, runnerLink } from "../config.ts";
import { openProject } from "../store/database.ts";
import { applyConfiguration, findPlacement } from "../store/fleet/placement-store.ts";
import { findRunner } from "../store/fleet/runner-store.ts";
import { checkThreads } from "./machine-fit.ts";

/** A placement of the project; throws `not-found` where there is none. */
export async function mustFindPlacement(env: ProjectEnv, id: string): Promise<Placement> {
  return mustFind(id, await findPlacement(openProject(env), id));
}

/** Sets the serving configuration of a placement and queues its calibration, whose id is returned too. */
export async function configurePlacement(
  env: ProjectEnv,
  id: string,
  configuration: ServingConfiguration,
): Promise<{ placement: Placement; jobId: string }> {
  const placement = await mustFindPlacement(env, id);
  const { runnerId, modelVersionId } = placement;
  if (placement.backend === "edge-wasm") {
    throw new ProblemError("conflict", "The edge computes one request at a time; there is nothing to configure.");
  }
  const runner = await findRunner(openProject(env), runnerId, []);
  const errors = checkThreads(configuration, placement.backend, runner?.capabilities ?? null);
  if (errors.length > 0) throw invalidRequest(errors);
  const isStored = isSameConfiguration(placement.configuration, configuration);
  const stored = isStored ? placement : await store(env, placement, configuration);
  // An object that was restarted or moved rejects its calls: the runner then reconnects and gets the configuration in
  // its welcome.
  await runnerLink(env, runnerId)
    .configure(modelVersionId)
    .catch(() => undefined);
  const calibration = await jobQueue(env).calibrateAnew(env.project, runnerId, modelVersionId);
  if (!calibration.ok) {
    const { code, detail, ...more } = calibration.problem;
    throw new ProblemError(code, `The configuration counts, but nothing measures it yet: ${detail}`, more);
  }
  return { placement: stored, jobId: calibration.job.id };
}

async function store(env: ProjectEnv, { id }: Placement, configuration: ServingConfiguration): Promise<Placement> {
  const applied = { configuration, measured: null, validated: null };
  return mustFind(id, await applyConfiguration(openProject(env), id, applied));
}

function mustFind(id: string, placement: Placement | null): Placement {
  if (placement === null) throw new ProblemError("not-found", `There is no placement ${id}.`);
  return placement;
}
