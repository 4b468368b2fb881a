import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { environmentFields, FRAME_PIXELS, RolloutEnvironment } from "../fleet/rollout-environment.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name, pageOf, PageQuery } from "../wire/page.ts";

const programFields = {
  wgsl: z.string().min(1).max(LIMITS.environmentWgslLength).meta({
    description: "Declares `State`, `reset`, `observe`, `step` and, where there are measures, `measure`",
  }),
  stateWords: z
    .number()
    .int()
    .min(1)
    .max(LIMITS.environmentStateWords)
    .meta({ description: "Words of 32 bits that a `State` takes in an array, with WGSL's alignment" }),
};

/**
 * WGSL that a submitted environment may not contain, since it becomes part of a program with our buffers and entry
 * points.
 */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/@\s*(compute|vertex|fragment)\b/, "must have no entry point"],
  [/@\s*(group|binding)\b/, "must have no bindings"],
  [/\bvar\s*<\s*workgroup\b/, "must use no workgroup memory: episodes are apart from each other"],
  [/\boverride\b/, "must have no override: use const"],
  [/(^|;)\s*(enable|requires|diagnostic)\b/, "must have no directives"],
];

/** WGSL comments: to the end of the line, for which WGSL has seven characters, or between marks. */
const COMMENTS = /\/\/[^\n\v\f\r\u0085\u2028\u2029]*|\/\*[\s\S]*?\*\//g;

/** Errors in an environment's WGSL that show without a compiler. */
function checkWgsl(wgsl: string, measures: number): string[] {
  const code = wgsl.replaceAll(COMMENTS, " ");
  const functions = ["reset", "observe", "step", ...(measures > 0 ? ["measure"] : [])];
  return [
    ...(/\b(struct|alias)\s+State\b/.test(code) ? [] : ["must declare struct State"]),
    ...functions
      .filter((name) => !new RegExp(`\\bfn\\s+${name}\\b`).test(code))
      .map((name) => `must declare fn ${name}`),
    ...REFUSED.flatMap(([pattern, message]) => (pattern.test(code) ? [message] : [])),
  ];
}

const { digest: _, ...submittedFields } = environmentFields(z.strictObject as unknown as typeof z.object);

/** Input of an environment's submission. */
export const EnvironmentInput = z
  .strictObject({ ...submittedFields, ...programFields })
  .superRefine(({ name, wgsl, measures, action, scores, observationSize, frames }, context) => {
    if (context.issues.length > 0) return;
    const refuse = (message: string, ...path: string[]) => context.addIssue({ code: "custom", path, message });
    if (idSchema("environment").safeParse(name).success) refuse("must not look like an id", "name");
    if (frames === true && observationSize !== FRAME_PIXELS)
      refuse(`must be ${FRAME_PIXELS}, the pixels of four frames`, "observationSize");
    if (frames !== true && observationSize > LIMITS.policyWidth)
      refuse(`must be at most ${LIMITS.policyWidth}`, "observationSize");
    if (action.kind === "continuous" && action.low >= action.high) refuse("must be above low", "action", "high");
    if (scores.worst >= scores.best) refuse("must be above worst", "scores", "best");
    for (const message of checkWgsl(wgsl, measures)) refuse(message, "wgsl");
  })
  .meta({ id: "EnvironmentInput" });
export type EnvironmentInput = z.infer<typeof EnvironmentInput>;

/** An environment of a user's own as it is stored and offered. */
export const EnvironmentDefinition = z
  .object({ ...RolloutEnvironment.omit({ digest: true }).shape, ...programFields })
  .meta({ id: "EnvironmentDefinition" });
export type EnvironmentDefinition = z.infer<typeof EnvironmentDefinition>;

/** A submitted environment as a runner receives it. */
export const OfferedEnvironment = z.object({
  id: idSchema("environment"),
  digest: z.string(),
  definition: EnvironmentDefinition,
});
export type OfferedEnvironment = z.infer<typeof OfferedEnvironment>;

/** An environment that a job may name: by `name`, or by `id` if it was submitted. */
export const ListedEnvironment = RolloutEnvironment.extend({
  source: z.enum(["announced", "submitted"]),
  id: idSchema("environment").optional(),
  owner: z.string().optional().meta({ description: "Id of the key that submitted it" }),
  createdAt: Instant.optional(),
}).meta({ id: "ListedEnvironment" });
export type ListedEnvironment = z.infer<typeof ListedEnvironment>;
const EnvironmentPage = pageOf(ListedEnvironment, "RolloutEnvironment");

/** One of them; of a submitted one with its program. */
export const DescribedEnvironment = ListedEnvironment.extend(z.object(programFields).partial().shape).meta({
  id: "DescribedEnvironment",
});
export type DescribedEnvironment = z.infer<typeof DescribedEnvironment>;

/** Environments that policies are evaluated and trained in. */
export const environmentEndpoints = {
  submitEnvironment: defineEndpoint({
    method: "post",
    path: "/v1/environments",
    tag: "environments",
    summary: "Submit an environment in WGSL, to be run by runners that take submitted kernels",
    description:
      "The same submission of the same key again gives the environment that is there already, with status 200.",
    access: "submit",
    body: EnvironmentInput,
    repeatable: "as-it-is",
    reply: { status: 201, schema: DescribedEnvironment },
    problems: ["conflict"],
  }),
  listEnvironments: defineEndpoint({
    method: "get",
    path: "/v1/environments",
    tag: "environments",
    summary: "The environments that the registered runners announce, then the submitted ones, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: EnvironmentPage },
  }),
  getEnvironment: defineEndpoint({
    method: "get",
    path: "/v1/environments/{environment}",
    tag: "environments",
    summary: "Describe an environment by its name or id; a submitted one with its WGSL",
    access: "read",
    params: z.object({ environment: Name.meta({ description: "Name of an environment" }) }),
    reply: { status: 200, schema: DescribedEnvironment },
    problems: ["not-found"],
  }),
  deleteEnvironment: defineEndpoint({
    method: "delete",
    path: "/v1/environments/{id}",
    tag: "environments",
    summary: "Delete a submitted environment of one's own; its runs stay, and jobs that wait for it fail",
    access: "submit",
    params: z.object({ id: idSchema("environment") }),
    reply: { status: 204 },
    problems: ["not-found"],
  }),
} as const;
