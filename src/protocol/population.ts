import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Instant, Name, pageOf } from "./page.ts";
import { parseJson } from "./parse-json.ts";
import { PolicyNetwork } from "./policy-network.ts";

/** Many policies of one form as one file: float32, members × parameters, row-major. */
export const Population = z
  .object({
    id: idSchema("population"),
    name: Name.nullable(),
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    sizeBytes: z.number().int(),
    format: z.enum(["npy", "safetensors"]),
    /** Bytes before the first row. */
    offsetBytes: z.number().int().min(0),
    members: z.number().int().min(1).max(LIMITS.populationMembers),
    parameters: z.number().int().min(1).max(LIMITS.policyParameters),
    network: PolicyNetwork,
    createdAt: Instant,
  })
  .openapi("Population");
export type Population = z.infer<typeof Population>;
export const PopulationPage = pageOf(Population, "Population");

/** Where the file stands in an upload: the body is the npy or safetensors file itself. */
export const PopulationUploadQuery = z.object({
  name: Name.optional().openapi({ description: "Name of the population; absent: it has its id alone" }),
  network: z
    .string()
    .max(4_096)
    .default("{}")
    .transform((text) => withKind(parseJson(text)))
    .pipe(PolicyNetwork)
    .openapi({
      type: "string",
      description: "Form of the members, as JSON",
      example: '{"kind":"mlp","hidden":[32],"activation":"tanh"}',
    }),
});

/** Dense layers are what a network is unless it says otherwise. */
function withKind(value: unknown): unknown {
  return typeof value === "object" && value !== null && !("kind" in value) ? { kind: "mlp", ...value } : value;
}
