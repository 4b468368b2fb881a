import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { JobResult } from "../../protocol/jobs/job.ts";
import type { JobSubject } from "../../protocol/jobs/job-fields.ts";
import { type FieldError, ProblemError } from "../../protocol/wire/problem.ts";
import type { ScenarioResult } from "../../protocol/models/scenario.ts";
import type { ProjectEnv } from "../config.ts";
import { answerSvg } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { curvePlot } from "../kinds/validation/curve-plot.ts";
import { drawPlot } from "../plots/draw-plot.ts";
import { frontPlot } from "../kinds/optimisation/front-plot.ts";
import { learningPlot, readLearning } from "../kinds/training/learning-plot.ts";
import { profilePlot } from "../kinds/evaluation/profile-plot.ts";
import { sweepPlot, tradePlot } from "../models/sweep/sweep-plots.ts";
import { openProject } from "../store/database.ts";
import { findRun } from "../store/history/run-store.ts";
import { readSweep, readTrade } from "../models/sweep/read-sweep.ts";

/** Plots as SVG. */
export function bindPlots(app: Hono<AppEnv>): void {
  bind(app, endpoints.plotCurve, async ({ c, env, params, query }) => {
    const result = await mustFindResult(env, params.id);
    if (result.kind !== "validation") throw noPlot(params.id, "curve", `it is a ${result.kind}, not a validation`);
    const scenario = chooseScenario(result.scenarios, query.scenario);
    if (typeof scenario === "string") {
      const errors = query.scenario === undefined ? [] : [{ pointer: "query/scenario", message: "has no curve" }];
      throw noPlot(params.id, "curve", scenario, errors);
    }
    return answerSvg(c, drawPlot(curvePlot(nameSubject(result.subject), scenario, scenario.server), query));
  });

  bind(app, endpoints.plotFront, async ({ c, env, params, query }) => {
    const result = await mustFindResult(env, params.id);
    if (result.kind !== "optimisation") throw noPlot(params.id, "front", `it is a ${result.kind}, not an optimisation`);
    const plot = frontPlot(nameSubject(result.subject), result);
    if (plot === null) throw noPlot(params.id, "front", "none of its trials was measured");
    return answerSvg(c, drawPlot(plot, query));
  });

  bind(app, endpoints.plotLearning, async ({ c, env, params, query }) => {
    return answerSvg(c, drawPlot(learningPlot(await readLearning(env, params.id)), query));
  });

  bind(app, endpoints.plotProfile, async ({ c, env, params, query }) => {
    const result = await mustFindResult(env, params.id);
    if (result.kind !== "evaluation") throw noPlot(params.id, "profile", `it is a ${result.kind}, not an evaluation`);
    const plot = profilePlot(result);
    if (plot === null) throw noPlot(params.id, "profile", "no entrant has a score");
    return answerSvg(c, drawPlot(plot, query));
  });

  bind(app, endpoints.plotSweep, async ({ c, env, params, query }) =>
    answerSvg(c, drawPlot(sweepPlot(await readSweep(env, params.id, query), query.latencyMs), query)),
  );

  bind(app, endpoints.plotTrade, async ({ c, env, params, query }) => {
    const trade = await readTrade(env, params.model, query.version);
    const plot = tradePlot(trade);
    if (plot === null)
      throw new ProblemError("not-found", `Of ${trade.model}@${trade.version} no placement is eligible.`);
    return answerSvg(c, drawPlot(plot, query));
  });
}

async function mustFindResult(env: ProjectEnv, id: string): Promise<JobResult> {
  const run = await findRun(openProject(env), id);
  if (run === null) throw new ProblemError("not-found", `There is no run ${id} of a job.`);
  return run.result;
}

type WithServer = ScenarioResult & { readonly server: NonNullable<ScenarioResult["server"]> };

function hasCurve(result: ScenarioResult): result is WithServer {
  return result.server !== null && result.server.curve.length > 0;
}

/** The requested scenario, or the first with several rates; else the reason why there is none. */
function chooseScenario(scenarios: readonly ScenarioResult[], wanted: number | undefined): WithServer | string {
  if (wanted === undefined) return scenarios.find(hasCurve) ?? "it has no server scenario";
  const scenario = scenarios[wanted];
  if (scenario === undefined) return `it has ${scenarios.length} scenarios`;
  return hasCurve(scenario) ? scenario : `its scenario ${wanted} is ${scenario.scenario.kind}, not server`;
}

function nameSubject(subject: JobSubject): string {
  return subject.kind === "model" ? subject.model : subject.kernel;
}

function noPlot(id: string, plot: string, reason: string, errors: FieldError[] = []): ProblemError {
  const detail = `The run ${id} has no ${plot}: ${reason}.`;
  return new ProblemError("not-found", detail, errors.length > 0 ? { errors } : {});
}
