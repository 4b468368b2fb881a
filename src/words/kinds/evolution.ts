import { formatDuration, formatShare } from "../numbers.ts";
import type { KindWords, ResultOf } from "./kind.ts";

export const evolution: KindWords<"evolution"> = {
  kind: "evolution",
  name: ({ pool }) => pool.name,
  parts: ({ pool }) => [`generation ${pool.generation + 1}`],
  result: ({ pool, generation, best, fronts, diversity, place, computeMs, artifact }, { number, bytes }) => ({
    facts: [
      ["pool", `${pool}, generation ${generation}, ${bytes(artifact.sizeBytes)}`],
      ["best before", `agent ${best.agent}${best.fitness === null ? "" : `, fitness ${number(best.fitness)}`}`],
      ...(fronts === null ? [] : [["fronts", number(fronts)] as const]),
      [
        "diversity",
        `from ${number(diversity.before)} to ${number(diversity.after)} among the first ${number(diversity.agents)}`,
      ],
      ["computed", `in ${formatDuration(computeMs)}, ${describePool(place)}`],
    ],
  }),
  links: () => [],
  again: (spec) => ({ ...spec, pool: spec.pool.name }),
};

/** Memory tier of a pool during the work. */
export function describePool({ tier, freeShare }: ResultOf<"evolution">["place"]): string {
  return `in memory of the ${tier === "gpu" ? "GPU" : "host"}, ${formatShare(freeShare)} of it free`;
}
