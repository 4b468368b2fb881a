import type { EpisodePage } from "../../protocol/evaluation.ts";
import { type Table, tableOf } from "../http/write-table.ts";

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
