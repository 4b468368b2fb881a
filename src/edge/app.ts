import { type Context, Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { endpoints } from "../protocol/endpoints.ts";
import { createProblem, headersOf, toProblem } from "../protocol/wire/problem.ts";
import { bindComparisons, bindHistory, bindHistoryQueries } from "./routes/history.ts";
import { bindAgents } from "./routes/agents.ts";
import { bindArchives } from "./routes/archives.ts";
import { bindAlerts, bindThresholds, bindWebhooks } from "./routes/alerts.ts";
import { bindCompressions, bindModels, bindSweeps } from "./routes/models.ts";
import { bindDetections } from "./routes/detections.ts";
import { bindEdgeRuns, bindInfer, bindTickets } from "./routes/inference/infer.ts";
import { bindEnvironments } from "./routes/environments.ts";
import { bindEvaluations, bindPopulations } from "./routes/evaluations.ts";
import { bindHrr, bindItemMemories } from "./routes/hrr.ts";
import { bindJobArtifacts } from "./routes/job-artifacts.ts";
import { bindJobs } from "./routes/jobs.ts";
import { bindKernels } from "./routes/kernels.ts";
import { bindKeys, bindProjects } from "./routes/projects.ts";
import { bindMetrics, bindService } from "./routes/service.ts";
import { bindOip } from "./routes/inference/oip.ts";
import { bindPlacements } from "./routes/placements.ts";
import { bindPlots } from "./routes/plots.ts";
import { bindPolicies } from "./routes/inference/policies.ts";
import { bindProfiles } from "./routes/profiles.ts";
import { bindReports, bindRuns } from "./routes/runs.ts";
import { bindRequirements } from "./routes/requirements.ts";
import { bindRunners } from "./routes/runners.ts";
import { nameStorageFull, refuse } from "./http/problems.ts";
import { bindTransfers } from "./routes/transfers.ts";
import { bindTunings } from "./routes/tunings.ts";
import { type AppEnv, inTurn } from "./http/bind.ts";
import { RateLimited, rateHeaders } from "./http/key-rate.ts";
import { logRequest } from "./http/log-request.ts";
import { discardBody } from "./http/read-body.ts";
import { stackOf } from "../telemetry/name-failure.ts";
import { logFailure } from "./log-failure.ts";

/** The HTTP API and the dashboard's files. */
export function createApp(): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(logRequest((event) => console.log(JSON.stringify(event))));
  for (const path of ["/v1/*", "/v2/*", "/metrics"]) app.use(path, apiHeaders);
  for (const path of ["/", "/docs", "/docs/*", "/assets/*"]) app.use(path, pageHeaders);
  for (const bindResource of [
    bindService,
    bindMetrics,
    bindKeys,
    bindProjects,
    bindRunners,
    bindEdgeRuns,
    bindProfiles,
    bindRequirements,
    bindModels,
    bindCompressions,
    bindPlacements,
    bindInfer,
    bindTickets,
    bindOip,
    bindPolicies,
    bindJobs,
    bindJobArtifacts,
    bindPopulations,
    bindArchives,
    bindEvaluations,
    bindRuns,
    bindHistory,
    bindComparisons,
    bindReports,
    bindHistoryQueries,
    bindDetections,
    bindThresholds,
    bindAlerts,
    bindKernels,
    bindEnvironments,
    bindTunings,
    bindWebhooks,
    bindTransfers,
    bindPlots,
    bindSweeps,
    bindHrr,
    bindItemMemories,
    bindAgents,
  ]) {
    bindResource(app);
  }
  app.onError(async (error, c) => {
    await discardBody(c.req.raw, error);
    const named = nameStorageFull(error);
    const problem = toProblem(named);
    if (problem.code === "storage-full") logFailure("storage-full", error, { path: c.req.path });
    if (error instanceof RateLimited) c.set("keyRate", error.told);
    if (problem.code === "internal") logFailure("internal-error", error, { path: c.req.path, stack: stackOf(error) });
    return refuse(problem, c.req.path, headersOf(named));
  });
  app.notFound((c) => inTurn(c, "other", () => refuseUnknown(c)));
  return app;
}

async function refuseUnknown(c: Context<AppEnv>): Promise<Response> {
  await discardBody(c.req.raw);
  const methods = methodsOf(c.req.path);
  if (methods.length > 0 && !methods.includes(c.req.method)) {
    const detail = `${c.req.path} takes ${methods.join(", ")}.`;
    return refuse(createProblem("method-not-allowed", detail), c.req.path, { allow: methods.join(", ") });
  }
  return refuse(createProblem("not-found", `There is no ${c.req.path}.`), c.req.path, {});
}

const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
    objectSrc: ["'none'"],
  },
  referrerPolicy: "no-referrer",
});

/** Headers of every reply of the API. */
const apiHeaders = async (c: Context<AppEnv>, next: () => Promise<void>): Promise<void> => {
  await next();
  if (c.res.status === 101) return;
  if (!c.res.headers.has("cache-control")) c.res.headers.set("cache-control", "no-store");
  const keyRate = c.get("keyRate");
  if (keyRate !== undefined) {
    for (const [name, value] of Object.entries(rateHeaders(keyRate))) c.res.headers.set(name, value);
  }
  c.res.headers.set("x-content-type-options", "nosniff");
};

/** Patterns of the API's paths, with their methods. */
const PATHS = Object.values(endpoints).map(
  ({ path, method }) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`), method.toUpperCase()] as const,
);

/** Methods that a path of the API supports. */
function methodsOf(path: string): string[] {
  return PATHS.filter(([pattern]) => pattern.test(path)).map(([, method]) => method);
}
