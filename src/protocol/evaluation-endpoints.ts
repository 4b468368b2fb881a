import { z } from "@hono/zod-openapi";
import { defineEndpoint } from "./endpoint.ts";
import { EvaluationComparison, EvaluationComparisonQuery } from "./evaluation-comparison.ts";
import { EpisodePage, EpisodeQuery } from "./evaluation.ts";
import { idSchema } from "./id.ts";
import { FLAT_MEDIA_TYPES } from "./table-format.ts";

/** Routes of what evaluations found. */
export const evaluationEndpoints = {
  listEpisodes: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/episodes",
    tag: "evaluations",
    summary: "The episodes of an evaluation: return, length and cause of end of each",
    description:
      "By entrant, member and episode. A page reads a part of the file only, so it may hold fewer than `limit` and still have a `nextCursor`.",
    access: "read",
    params: z.object({ id: idSchema("run") }),
    query: EpisodeQuery,
    reply: { status: 200, schema: EpisodePage, alsoAs: FLAT_MEDIA_TYPES },
    problems: ["not-found"],
  }),
  compareEvaluations: defineEndpoint({
    method: "get",
    path: "/v1/evaluations/compare",
    tag: "evaluations",
    summary: "Hold evaluations against each other: differences with intervals, and the probability of improvement",
    description: "Episodes of the same environment, seed and number are paired, where their draws were common.",
    access: "read",
    query: EvaluationComparisonQuery,
    reply: { status: 200, schema: EvaluationComparison },
    problems: ["not-found"],
  }),
} as const;
