import type { CurvePoint, TrainingResult, TrainingSpec } from "../../../protocol/jobs/training.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../../config.ts";
import type { PlotLayer, PlotMark, PlotSpec } from "../../plots/plot-spec.ts";
import { valueText } from "../../plots/plot-text.ts";
import { openProject } from "../../store/database.ts";
import { findRun, runIdOf } from "../../store/history/run-store.ts";

/** A training's progress, with its result once it has ended. */
interface Learning {
  readonly spec: TrainingSpec;
  readonly curve: readonly CurvePoint[];
  readonly result: TrainingResult | null;
}

/** Return by generation of a training: best and mean of the members, the policy on fresh episodes, and the end. */
export function learningPlot({ spec, curve, result }: Learning): PlotSpec {
  const { algorithm, environment, stopAt: target } = spec;
  const { solvedAtGeneration = null, resumedFrom = null } = result ?? {};
  const lineOf = (of: (point: CurvePoint) => number) => curve.map((point) => [point.generation, of(point)] as const);
  const layers: PlotLayer[] = [
    ...(target === undefined ? [] : [targetRule(target)]),
    ...(solvedAtGeneration === null ? [] : [solvedRule(solvedAtGeneration)]),
    { kind: "line", name: "best member", colour: "second", dashed: true, points: lineOf((point) => point.best) },
    { kind: "line", name: "mean of the members", colour: "first", points: lineOf((point) => point.mean) },
    { kind: "marks", name: "policy on fresh episodes", colour: "third", shape: "dot", marks: curve.flatMap(judged) },
    ...(result === null ? [] : [endMark(result)]),
  ];
  const generations = curve.at(-1)?.generation ?? 0;
  const end = result === null ? "" : ` ${tellBest(result)}.`;
  const resumed = resumedFrom === null ? "" : ` It went on from a checkpoint after ${resumedFrom} generations.`;
  const solved = solvedAtGeneration === null ? "" : ` Solved after ${solvedAtGeneration}.`;
  return {
    title: `${result?.task.name ?? environment} by ${algorithm.name}`,
    description: `${generations} generations of ${algorithm.population}.${solved}${resumed}${end}`,
    xLabel: "generation",
    panels: [{ label: "return", layers }, ...speciesPanel(curve)],
  };
}

function endMark(result: TrainingResult): PlotLayer {
  const mark = { x: result.generations, y: result.best.mean.value, title: tellBest(result) };
  return { kind: "marks", name: "best, on episodes that chose nothing", colour: "good", shape: "ring", marks: [mark] };
}

/** Number of species, for an algorithm that has them. */
function speciesPanel(curve: readonly CurvePoint[]): PlotSpec["panels"] {
  const points = curve.flatMap(({ generation, species }) => (species ? [[generation, species.count] as const] : []));
  if (points.length === 0) return [];
  return [{ label: "species", layers: [{ kind: "line", name: "species", colour: "first", points }] }];
}

function targetRule(target: number): PlotLayer {
  return { kind: "rule", axis: "y", at: target, colour: "good", text: `target ${valueText(target)}` };
}

function solvedRule(generation: number): PlotLayer {
  return { kind: "rule", axis: "x", at: generation, colour: "good", text: `solved ${generation}` };
}

function judged({ generation, fresh }: CurvePoint): PlotMark[] {
  if (fresh === null) return [];
  return [{ x: generation, y: fresh, title: `generation ${generation}: ${valueText(fresh)} on fresh episodes` }];
}

function tellBest({ best: { mean, episodes } }: TrainingResult): string {
  const interval = `${valueText(mean.low)} to ${valueText(mean.high)}`;
  return `The best policy has ${valueText(mean.value)} (95 %: ${interval}) over ${episodes} fresh episodes`;
}

/**
 * Progress of a training: from its run once it has ended, else from its reports so far. Throws `not-found` if the job
 * does not exist or is not a training.
 */
export async function readLearning(env: ProjectEnv, jobId: string): Promise<Learning> {
  const queue = jobQueue(env);
  const found = (await findRun(openProject(env), runIdOf(jobId))) ?? (await queue.get(env.project, jobId));
  if (found === null) throw new ProblemError("not-found", `There is no job ${jobId}.`);
  const { spec, result } = found;
  if (spec.kind !== "training") {
    throw new ProblemError(
      "not-found",
      `The job ${jobId} has no learning curve: it is a ${spec.kind}, not a training.`,
    );
  }
  if (result?.kind === "training") return { spec, curve: result.curve, result };
  return { spec, curve: await queue.readCurve(env.project, jobId), result: null };
}
