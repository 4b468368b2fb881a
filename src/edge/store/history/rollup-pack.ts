import type { Aggregate } from "../../../stats/distribution/distribution.ts";

/** A rollup within the next wider one; its place counts its own width from the start of that one. */
export interface PackedPart extends Aggregate {
  readonly place: number;
  readonly runId: string | null;
}

/** A part with its series and time. */
type UnpackedPart = Omit<PackedPart, "place"> & { readonly seriesNo: number; readonly atMs: number };

/**
 * Rollups of one width as the text of one column, in order of time: `place,count,sum,min,max,run,sketch`, with a
 * semicolon between two. Without extremes, both are the sum. A text costs a query one value where rows cost many, and
 * its sketches are slices of it.
 */
export function parsePack(pack: string, seriesNo: number, startMs: number, stepMs: number): UnpackedPart[] {
  if (pack === "") return [];
  return pack.split(";").map((entry) => {
    const [place, count, sum, min, max, runId, sketch = ""] = entry.split(",");
    const total = Number(sum);
    return {
      seriesNo,
      atMs: startMs + Number(place) * stepMs,
      runId: runId === undefined || runId === "" ? null : runId,
      count: Number(count),
      min: min === "" ? total : Number(min),
      max: max === "" ? total : Number(max),
      sum: total,
      sketch,
    };
  });
}

/** The pack with these parts instead of those at their places. */
export function replaceInPack(pack: string, parts: readonly PackedPart[]): string {
  const entries = new Map(pack === "" ? [] : pack.split(";").map((entry) => [Number.parseInt(entry, 10), entry]));
  for (const part of parts) entries.set(part.place, renderEntry(part));
  return [...entries]
    .toSorted(([a], [b]) => a - b)
    .map(([, entry]) => entry)
    .join(";");
}

function renderEntry({ place, count, sum, min, max, runId, sketch }: PackedPart): string {
  const extremes = min === sum && max === sum ? "," : `${min},${max}`;
  return `${place},${count},${sum},${extremes},${runId ?? ""},${sketch}`;
}
