import type { EvaluationComparison, NamedSide } from "../../protocol/evaluation-comparison.ts";
import type { Estimate } from "../../protocol/score.ts";
import type { EvaluationResult } from "../../protocol/evaluation.ts";
import { type ComparedTask, compareScores } from "../../stats/compare-scores.ts";
import { estimateScores } from "../../stats/estimate-scores.ts";
import type { TaskScores } from "../../stats/score-atoms.ts";
import type { ProjectEnv } from "../config.ts";
import { invalidRequest } from "../http/bind.ts";
import { findEvaluation } from "./episodes-of.ts";
import { readSide, type ReadSide } from "./read-side.ts";

type Task = EvaluationComparison["tasks"][number];

/** A bootstrap that an isolate can afford: some tenths of a second in all. */
const PLAN = { seed: 1, resamples: 50_000, work: 1e8 };

/**
 * Holds sides of evaluations against each other, task by task. Throws `not-found` where a run is none of an
 * evaluation, `invalid-request` where a side names nothing, has too many episodes or is of another environment.
 */
export async function compareEvaluations(
  env: ProjectEnv,
  { a, b }: { readonly a: readonly NamedSide[]; readonly b: readonly NamedSide[] },
): Promise<EvaluationComparison> {
  if (a.length !== b.length) throw invalidRequest([{ pointer: "query/b", message: "must name as many runs as a" }]);
  const sides = await Promise.all(
    a.map(async (named, index) => ({
      a: await readSide(env, await findEvaluation(env, named.runId, "query/a"), named, "query/a"),
      b: await readSide(env, await findEvaluation(env, b[index]!.runId, "query/b"), b[index]!, "query/b"),
    })),
  );
  for (const side of sides) checkTask(side.a.run.result, side.b.run.result);
  const compared = sides.map((side) => ({
    a: normalise(side.a),
    b: normalise(side.b),
    paired: explainUnpaired(side.a.run.result, side.b.run.result) === null,
  }));
  const { resamples, ...found } = compareScores(compared, PLAN);
  const tasks = sides.map((side, index) =>
    describeTask(side.a, side.b, compared[index]!, found.difference, sides.length),
  );
  const scoreSide = (side: "a" | "b") => {
    const { mean, iqm, median, optimalityGap } = estimateScores(
      compared.map((task) => task[side]),
      [],
      PLAN,
    );
    return { mean, iqm, median, optimalityGap };
  };
  return { tasks, ...found, a: scoreSide("a"), b: scoreSide("b"), resamples, seed: PLAN.seed };
}

function checkTask(a: EvaluationResult, b: EvaluationResult): void {
  if (a.task.name === b.task.name && a.task.digest === b.task.digest) return;
  const message = `is of ${b.task.name}, and a of ${a.task.name}${a.task.name === b.task.name ? " as another program" : ""}`;
  throw invalidRequest([{ pointer: "query/b", message }]);
}

function describeTask(a: ReadSide, b: ReadSide, task: ComparedTask, difference: Estimate, tasks: number): Task {
  const { worst, best } = a.run.result.scores;
  const plan = { ...PLAN, work: PLAN.work / tasks };
  // Of one task it is drawn already.
  const own = tasks === 1 ? difference : compareScores([task], plan).difference;
  const [value, ...bounds] = [own.value, own.low, own.high].map((score) => score * (best - worst));
  return {
    task: a.run.result.task.name,
    a: a.told,
    b: b.told,
    paired: task.paired,
    unpairedBecause: explainUnpaired(a.run.result, b.run.result),
    returnDifference: { value: value!, low: Math.min(...bounds), high: Math.max(...bounds) },
  };
}

function explainUnpaired(a: EvaluationResult, b: EvaluationResult): string | null {
  if (a.seed !== b.seed) return `the seeds differ: ${a.seed} and ${b.seed}`;
  if (a.episodes !== b.episodes) return `the numbers of episodes differ: ${a.episodes} and ${b.episodes}`;
  if (!a.commonRandom || !b.commonRandom) return "the draws were not common to all members";
  return null;
}

function normalise({ returns, run }: ReadSide): TaskScores {
  const { worst, best } = run.result.scores;
  return { ...returns, scores: returns.scores.map((value) => (value - worst) / (best - worst)) };
}
