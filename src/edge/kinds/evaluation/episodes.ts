import { EPISODE_BYTES, EPISODES_OFFSET, readEpisode } from "../../../protocol/jobs/evaluation/episodes-file.ts";
import type {
  Episode,
  EpisodePage,
  EpisodeQuery,
  EvaluationResult,
} from "../../../protocol/jobs/evaluation/evaluation.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../../config.ts";
import { type Table, tableOf } from "../../http/write-table.ts";
import { findJobArtifact, getArtifactRange } from "../../store/artifact-store.ts";
import { encodeCursor, wrongCursor } from "../../store/cursor.ts";
import { openProject } from "../../store/database.ts";
import { findRun } from "../../store/history/run-store.ts";

/** An evaluation's run. */
export interface EvaluationRun {
  readonly id: string;
  readonly jobId: string;
  readonly seed: number;
  readonly result: EvaluationResult;
}

/** Finds an evaluation's run; throws `not-found` if there is none. `pointer` is the field that named it. */
export async function findEvaluation(env: ProjectEnv, id: string, pointer = "path/id"): Promise<EvaluationRun> {
  const run = await findRun(openProject(env), id);
  if (run?.result.kind === "evaluation") return { id, jobId: run.jobId, seed: run.result.seed, result: run.result };
  throw new ProblemError("not-found", `There is no run ${id} of an evaluation.`, {
    errors: [{ pointer, message: "is not a run of an evaluation" }],
  });
}

/**
 * Records of an evaluation's file from one index to before another. Throws `not-found` if the file is gone or is not
 * the one that the job left: a result alone could name any file.
 */
export async function readRecords(
  env: ProjectEnv,
  { id, jobId, result }: EvaluationRun,
  from: number,
  to: number,
): Promise<DataView> {
  const range = { offset: EPISODES_OFFSET + EPISODE_BYTES * from, length: EPISODE_BYTES * (to - from) };
  const file = await findJobArtifact(openProject(env), jobId, "episodes");
  const isIts = file !== null && file.digest === result.artifact?.digest;
  const object = isIts ? await getArtifactRange(env.ARTIFACTS, file.digest, range) : null;
  if (object === null) throw new ProblemError("not-found", `The episodes of the run ${id} are not kept any more.`);
  return new DataView(await object.arrayBuffer());
}

/** Index in the file at which each entrant's episodes begin, and the end of the last. */
export function entrantStarts({ entrants, episodes }: EvaluationResult): number[] {
  const starts = [0];
  for (const { members } of entrants) starts.push(starts.at(-1)! + members * episodes);
  return starts;
}

/** Episodes as flat rows. */
export function episodesToTable({ items }: EpisodePage): Table {
  return tableOf(items, [
    ["entrant", "integer", (episode) => episode.entrant],
    ["member", "integer", (episode) => episode.member],
    ["episode", "integer", (episode) => episode.episode],
    ["return", "number", (episode) => episode.return],
    ["length", "integer", (episode) => episode.length],
    ["terminated", "boolean", (episode) => episode.terminated],
    ["truncated", "boolean", (episode) => episode.truncated],
    ["failed", "boolean", (episode) => episode.failed],
  ]);
}

/**
 * A page of an evaluation's episodes. Entrant and member select a contiguous part of the file; an interval of episodes
 * is filtered from at most 4 MiB, so a page may be short and still have a next one. `after` is the index at which the
 * previous page ended.
 */
export async function pageEpisodes(
  env: ProjectEnv,
  run: EvaluationRun,
  query: EpisodeQuery,
  after: number | null,
): Promise<EpisodePage> {
  const { result } = run;
  const { episodes } = result;
  const { fromEpisode = 0, toEpisode = episodes, limit } = query;
  const span = chooseSpan(result, query);
  if (span === null || episodes === 0 || fromEpisode >= Math.min(toEpisode, episodes))
    return { items: [], nextCursor: null };
  const place = after ?? span.from;
  if (!Number.isInteger(place) || place < span.from || place > span.to) throw wrongCursor();
  const isWhole = fromEpisode === 0 && toEpisode >= episodes;
  const most = Math.min(
    Math.floor(LIMITS.episodePageBytes / EPISODE_BYTES),
    isWhole ? limit : Number.POSITIVE_INFINITY,
  );
  const end = Math.min(span.to, place + most);
  const view = await readRecords(env, run, place, end);
  const items: Episode[] = [];
  let next = place;
  for (; next < end && items.length < limit; next++) {
    const episode = readEpisode(view, EPISODE_BYTES * (next - place));
    if (episode.episode >= fromEpisode && episode.episode < toEpisode) items.push(episode);
  }
  return { items, nextCursor: next < span.to ? encodeCursor([next]) : null };
}

/** The part of the file for an entrant and a member; null if there is no such part. */
function chooseSpan(
  result: EvaluationRun["result"],
  { entrant, member }: EpisodeQuery,
): { readonly from: number; readonly to: number } | null {
  const starts = entrantStarts(result);
  const { entrants, episodes } = result;
  if (entrant === undefined && member === undefined) return { from: 0, to: starts.at(-1)! };
  // A member belongs to an entrant; the entrant may be omitted if the run has only one.
  const place = entrant ?? 0;
  const members = entrants[place]?.members;
  if (members === undefined) return null;
  if (member === undefined) return { from: starts[place]!, to: starts[place + 1]! };
  if (member >= members) return null;
  const from = starts[place]! + member * episodes;
  return { from, to: from + episodes };
}
