import { EPISODE_BYTES, readEpisode } from "../../protocol/episodes-file.ts";
import type { Episode, EpisodePage, EpisodeQuery } from "../../protocol/evaluation.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ProjectEnv } from "../config.ts";
import { encodeCursor, wrongCursor } from "../store/cursor.ts";
import { entrantStarts, type EvaluationRun, readRecords } from "./episodes-of.ts";

/**
 * A page of an evaluation's episodes. Entrant and member choose a part of the file that has no gaps; an interval of
 * episodes is picked from what is read, 4 MiB at most, so a page may be short and have a next one. `after` is the
 * place that the page before ended at.
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

/** The part of the file that holds what an entrant and a member name; null where there is no such. */
function chooseSpan(
  result: EvaluationRun["result"],
  { entrant, member }: EpisodeQuery,
): { readonly from: number; readonly to: number } | null {
  const starts = entrantStarts(result);
  const { entrants, episodes } = result;
  if (entrant === undefined && member === undefined) return { from: 0, to: starts.at(-1)! };
  // A member is one of an entrant; of a run that has one only, of that.
  const place = entrant ?? 0;
  const members = entrants[place]?.members;
  if (members === undefined) return null;
  if (member === undefined) return { from: starts[place]!, to: starts[place + 1]! };
  if (member >= members) return null;
  const from = starts[place]! + member * episodes;
  return { from, to: from + episodes };
}
