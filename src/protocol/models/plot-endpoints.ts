import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { PlacementSweep, SweepQuery, sweepQuery, Trade, tradedVersion, TradeQuery } from "./trade-offs.ts";
import { FLAT_MEDIA_TYPES } from "../wire/table-format.ts";

const byRunId = z.object({ id: idSchema("run") });
const byPlacementId = z.object({ id: idSchema("placement") });
const byModel = z.object({ model: z.string().min(1).max(128).meta({ description: "Name or id of a model" }) });

const SVG = { status: 200, mediaType: "image/svg+xml", cached: "tag" } as const;

/** Appearance of a plot. */
const lookQuery = {
  theme: z.enum(["auto", "light", "dark"]).default("auto").meta({
    description: "`auto` follows the viewer's preference",
  }),
  width: z.coerce.number().int().min(LIMITS.minPlotWidth).max(LIMITS.maxPlotWidth).default(720).meta({
    description: "In pixels; text keeps its size",
  }),
};
export const PlotLook = z.strictObject(lookQuery);
export type PlotLook = z.infer<typeof PlotLook>;

/** Plots as SVG, and what a sweep over batch sizes and the variants of a model say. */
export const plotEndpoints = {
  plotCurve: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/plots/curve.svg",
    tag: "plots",
    summary: "Latency by rate of a validation's server scenario, with its bound and Pareto front",
    access: "read",
    isHeavy: true,
    params: byRunId,
    query: z.strictObject({
      scenario: z.coerce
        .number()
        .int()
        .min(0)
        .max(2 * LIMITS.validationScenarios - 1)
        .optional()
        .meta({ description: "Place in the result's scenarios; absent: the first that tried rates" }),
      ...lookQuery,
    }),
    reply: SVG,
    problems: ["not-found"],
  }),
  plotFront: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/plots/front.svg",
    tag: "plots",
    summary: "Every trial of an optimisation by throughput and latency, with front, best, default and targets",
    access: "read",
    isHeavy: true,
    params: byRunId,
    query: PlotLook,
    reply: SVG,
    problems: ["not-found"],
  }),
  plotProfile: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/plots/profile.svg",
    tag: "plots",
    summary: "Performance profile of an evaluation: the share of episodes above each normalised return",
    access: "read",
    isHeavy: true,
    params: byRunId,
    query: PlotLook,
    reply: SVG,
    problems: ["not-found"],
  }),
  plotLearning: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}/plots/learning.svg",
    tag: "plots",
    summary: "Return by generation of a training that runs or has ended, of its members and of its policy",
    access: "read",
    asksQueue: true,
    isHeavy: true,
    params: z.object({ id: idSchema("job") }),
    query: PlotLook,
    reply: SVG,
    problems: ["not-found"],
  }),
  plotSweep: defineEndpoint({
    method: "get",
    path: "/v1/placements/{id}/plots/sweep.svg",
    tag: "plots",
    summary: "Throughput and latency of a placement by batch size, with the knee and the largest safe batch",
    access: "read",
    isHeavy: true,
    params: byPlacementId,
    query: z.strictObject({ ...sweepQuery, ...lookQuery }),
    reply: SVG,
    problems: ["not-found"],
  }),
  plotTrade: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}/plots/trade.svg",
    tag: "plots",
    summary:
      "Placements of a model's version by the latency of one row and the fidelity that is lost, with their front",
    access: "read",
    isHeavy: true,
    params: byModel,
    query: z.strictObject({ version: tradedVersion, ...lookQuery }),
    reply: SVG,
    problems: ["not-found"],
  }),
  getPlacementSweep: defineEndpoint({
    method: "get",
    path: "/v1/placements/{id}/sweep",
    tag: "models",
    summary: "Throughput, knee, memory model, largest safe and recommended batch of a placement",
    access: "read",
    params: byPlacementId,
    query: SweepQuery,
    reply: { status: 200, schema: PlacementSweep },
    problems: ["not-found"],
  }),
  getModelTrade: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}/trade",
    tag: "models",
    summary: "What each variant of a model gains in speed and loses in fidelity, by device and backend",
    access: "read",
    params: byModel,
    query: TradeQuery,
    reply: { status: 200, schema: Trade, alsoAs: FLAT_MEDIA_TYPES, cached: "tag" },
    problems: ["not-found"],
  }),
} as const;
