import { EPISODE_BYTES, readEpisode } from "../../protocol/episodes-file.ts";
import type { EvaluationComparison, NamedSide } from "../../protocol/evaluation-comparison.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { TaskScores } from "../../stats/score-atoms.ts";
import { mean } from "../../stats/mean.ts";
import type { ProjectEnv } from "../config.ts";
import { invalidRequest } from "../http/bind.ts";
import { entrantStarts, type EvaluationRun, readRecords } from "./episodes-of.ts";

/** One side of a comparison in one environment. */
export interface ReadSide {
  readonly run: EvaluationRun;
  /** Of the members that did not fail. */
  readonly returns: TaskScores;
  readonly told: EvaluationComparison["tasks"][number]["a"];
}

/** Reads the returns of what a side names. Throws `invalid-request` where there is nothing to compare, or too much. */
export async function readSide(
  env: ProjectEnv,
  run: EvaluationRun,
  named: NamedSide,
  pointer: string,
): Promise<ReadSide> {
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

/** Returns of the members none of whose episodes failed. */
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
