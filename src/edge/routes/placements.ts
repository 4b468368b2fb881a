import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Placement } from "../../protocol/models/model.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { isSameConfiguration, type ServingConfiguration } from "../../protocol/fleet/serving.ts";
import { jobQueue, type ProjectEnv, runnerLink } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { checkThreads } from "../fleet/machine-fit.ts";
import { openProject } from "../store/database.ts";
import { applyConfiguration, findPlacement } from "../store/fleet/placement-store.ts";
import { findRunner } from "../store/fleet/runner-store.ts";

export function bindPlacements(app: Hono<AppEnv>): void {
  bind(app, endpoints.getPlacement, ({ env, params }) => mustFind(params.id, readPlacement(env, params.id)));

  bind(app, endpoints.configurePlacement, async ({ c, env, params, body }) => {
    const placement = await mustFind(params.id, readPlacement(env, params.id));
    const { runnerId, modelVersionId } = placement;
    if (placement.backend === "edge-wasm") {
      throw new ProblemError("conflict", "The edge computes one request at a time; there is nothing to configure.");
    }
    const runner = await findRunner(openProject(env), runnerId, []);
    const errors = checkThreads(body, placement.backend, runner?.capabilities ?? null);
    if (errors.length > 0) throw invalidRequest(errors);
    const stored = isSameConfiguration(placement.configuration, body) ? placement : await store(env, placement, body);
    // An object that was restarted or moved rejects its calls: the runner connects anew then, and is told.
    await runnerLink(env, runnerId)
      .configure(modelVersionId)
      .catch(() => undefined);
    const calibration = await jobQueue(env).calibrateAnew(env.project, runnerId, modelVersionId);
    if (!calibration.ok) {
      const { code, detail, ...more } = calibration.problem;
      throw new ProblemError(code, `The configuration counts, but nothing measures it yet: ${detail}`, more);
    }
    c.header("location", `/v1/jobs/${calibration.job.id}`);
    return stored;
  });
}

function store(env: ProjectEnv, { id }: Placement, configuration: ServingConfiguration): Promise<Placement> {
  const applied = { configuration, measured: null, validated: null };
  return mustFind(id, applyConfiguration(openProject(env), id, applied));
}

const readPlacement = (env: ProjectEnv, id: string) => findPlacement(openProject(env), id);

async function mustFind(id: string, found: Promise<Placement | null>): Promise<Placement> {
  const placement = await found;
  if (placement === null) throw new ProblemError("not-found", `There is no placement ${id}.`);
  return placement;
}
