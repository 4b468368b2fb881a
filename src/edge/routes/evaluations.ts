import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Population } from "../../protocol/policies/population.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { answerArtifact, answerOnce } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { compareEvaluations } from "../kinds/evaluation/compare-evaluations.ts";
import { episodesToTable, findEvaluation, pageEpisodes } from "../kinds/evaluation/episodes.ts";
import { receivePopulation } from "../kinds/evaluation/receive-population.ts";
import { deleteUnnamed } from "../store/artifact-store.ts";
import { decodeCursor } from "../store/cursor.ts";
import { openProject } from "../store/database.ts";
import { addPopulation, findPopulation, listPopulations, removePopulation } from "../store/models/population-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";

/** Populations: files of many policies. */
export function bindPopulations(app: Hono<AppEnv>): void {
  bind(app, endpoints.uploadPopulation, async ({ c, env, query: { name = null, network } }) => {
    const received = await receivePopulation(env, c.req.raw);
    const added = await addPopulation(openProject(env), { name, network, ...received });
    if (typeof added !== "string") return Response.json(added.population, { status: added.created ? 201 : 200 });
    await deleteUnnamed(env.DB, env.ARTIFACTS, [received.digest]);
    if (added === "taken") throw new ProblemError("conflict", `The population ${name} is another file or network.`);
    throw await quotaExceeded(env, { populations: 1 });
  });
  bind(app, endpoints.listPopulations, ({ env, query }) => listPopulations(openProject(env), query));
  bind(app, endpoints.getPopulation, ({ env, params }) => mustFind(env, params.population));
  bind(app, endpoints.downloadPopulation, async ({ c, env, params }) => {
    const { digest, sizeBytes } = await mustFind(env, params.population);
    return answerArtifact(c, { digest, sizeBytes, mediaType: "application/octet-stream" });
  });
  bind(app, endpoints.deletePopulation, async ({ env, params }) => {
    const { id, digest } = await mustFind(env, params.population);
    await removePopulation(openProject(env), id);
    await deleteUnnamed(env.DB, env.ARTIFACTS, [digest]);
    return new Response(null, { status: 204 });
  });
}

async function mustFind(env: ProjectEnv, nameOrId: string): Promise<Population> {
  const population = await findPopulation(openProject(env), nameOrId);
  if (population === null) throw new ProblemError("not-found", `There is no population ${nameOrId}.`);
  return population;
}

/** Episodes of evaluations, and their comparison. */
export function bindEvaluations(app: Hono<AppEnv>): void {
  bind(app, endpoints.listEpisodes, async ({ c, env, params, query }) => {
    const place = query.cursor === undefined ? null : Number(decodeCursor(query.cursor, 1)[0]);
    const run = await findEvaluation(env, params.id);
    // A run never changes.
    return answerOnce(c, run.id, async () => ({ body: await pageEpisodes(env, run, query, place) }), episodesToTable);
  });
  bind(app, endpoints.compareEvaluations, ({ c, env, query }) =>
    answerOnce(c, query, async () => ({ body: await compareEvaluations(env, query) })),
  );
}
