import { ZOO_CATEGORIES } from "../../../models/zoo.ts";
import { mean } from "../../stats/mean.ts";
import type { ZooMean, ZooRow } from "./zoo-row.ts";

/** The means of each category that has rows, then those of all. */
export function averageZoo(rows: readonly ZooRow[]): ZooMean[] {
  const fastest = new Map<string, ZooRow>();
  for (const row of rows) if (row.p50Ms < (fastest.get(row.model)?.p50Ms ?? Infinity)) fastest.set(row.model, row);
  const best = [...fastest.values()];
  return [...ZOO_CATEGORIES, "all" as const].flatMap((name) => {
    const some = best.filter(({ category }) => name === "all" || category === name);
    if (some.length === 0) return [];
    const of = (pick: (row: ZooRow) => number) => mean(some.map(pick));
    return {
      mean: name,
      models: some.length,
      p50Ms: of((row) => row.p50Ms),
      p95Ms: of((row) => row.p95Ms),
      p99Ms: of((row) => row.p99Ms),
      samplesPerS: of((row) => row.samplesPerS),
    };
  });
}
