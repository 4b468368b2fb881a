import { EPISODE_BYTES, readEpisode } from "../../../protocol/jobs/evaluation/episodes-file.ts";
import type { EvaluationComparison, NamedSide } from "../../../protocol/jobs/evaluation/evaluation-comparison.ts";
import type { EvaluationResult } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { Estimate } from "../../../protocol/wire/distribution.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { mean } from "../../../stats/distribution/summary.ts";
import { type ComparedTask, compareScores } from "../../../stats/score/compare-scores.ts";
import { estimateScores } from "../../../stats/score/estimate-scores.ts";
import type { TaskScores } from "../../../stats/score/score-atoms.ts";
import type { ProjectEnv } from "../../config.ts";
import { entrantStarts, type EvaluationRun, findEvaluation, readRecords } from "./episodes.ts";

/** One side of a comparison in one environment. */
interface ReadSide {
  readonly run: EvaluationRun;
  /** Returns of the members that did not fail. */
  readonly returns: TaskScores;
  readonly told: EvaluationComparison["tasks"][number]["a"];
}

/**
 * Reads the returns of the members that a side names. Throws `invalid-request` if there is nothing to compare, or too
 * much.
 */
async function readSide(env: ProjectEnv, run: EvaluationRun, named: NamedSide, pointer: string): Promise<ReadSide> {
  const refuse = (message: string) => invalidRequest([{ pointer, message }]);
  const { result } = run;
  const { entrants, episodes } = result;
  if (named.entrant === null && entrants.length > 1) {
    throw refuse(`has ${entrants.length} entrants: name one, as in ${run.id}:0`);
  }
  const place = named.entrant ?? 0;
  const entrant = entrants[place];
  if (entrant === undefined) throw refuse(`has ${entrants.length} entrants, counted from 0`);
  if (named.member !== null && named.member >= entrant.members) throw refuse(`has ${entrant.members} members there`);
  const members = named.member === null ? entrant.members : 1;
  if (members * episodes === 0) throw refuse("has no episodes");
  if (members * episodes > LIMITS.comparedEpisodes) {
    throw refuse(`has more than ${LIMITS.comparedEpisodes} episodes there: name a member`);
  }
  const from = entrantStarts(result)[place]! + (named.member ?? 0) * episodes;
  const view = await readRecords(env, run, from, from + members * episodes);
  const scores = readReturns(view, members, episodes);
  if (scores.length === 0) throw refuse("has no member that did not fail");
  const told = {
    runId: run.id,
    entrant: place,
    name: entrant.name,
    member: named.member,
    members: scores.length / episodes,
    episodes,
    seed: run.seed,
    meanReturn: mean(scores),
  };
  return { run, returns: { scores, episodes }, told };
}

/** Returns of the members without a failed episode. */
function readReturns(view: DataView, members: number, episodes: number): Float64Array {
  const returns = new Float64Array(members * episodes);
  let kept = 0;
  for (let member = 0; member < members; member++) {
    let isSound = true;
    for (let at = 0; at < episodes && isSound; at++) {
      const episode = readEpisode(view, EPISODE_BYTES * (member * episodes + at));
      isSound = !episode.failed && episode.return !== null;
      returns[kept + at] = episode.return ?? Number.NaN;
    }
    if (isSound) kept += episodes;
  }
  return returns.slice(0, kept);
}

type Task = EvaluationComparison["tasks"][number];

/** A bootstrap that an isolate can afford: a few tenths of a second in all. */
const PLAN = { seed: 1, resamples: 50_000, work: 1e8 };

/**
 * Compares sides of evaluations task by task. Throws `not-found` if a run is not of an evaluation, and
 * `invalid-request` if a side names nothing, has too many episodes or uses another environment.
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
    const scores = estimateScores(
      compared.map((task) => task[side]),
      [],
      PLAN,
    );
    return { mean: scores.mean, iqm: scores.iqm, median: scores.median, optimalityGap: scores.optimalityGap };
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
  // With one task the bootstrap is already drawn.
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
