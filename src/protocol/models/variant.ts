import { z } from "zod";
import { Estimate } from "../wire/distribution.ts";
import { LIMITS } from "../wire/limits.ts";

const value = z.number().min(0).max(1).meta({ description: "The variant's fidelity" });

/** Quality of a variant, and its evidence. */
export const MeasuredFidelity = z
  .discriminatedUnion("basis", [
    z.object({
      basis: z.literal("metric"),
      value,
      metric: z.string().max(64),
      rows: z.number().int().meta({ description: "Of the version's data, without those that the variant was made by" }),
      parent: z.number().meta({ description: "Of the version's own file on these rows" }),
      variant: z.number(),
      difference: Estimate.meta({ description: "The variant's less its parent's; a bootstrap over pairs of rows" }),
    }),
    z.object({
      basis: z.literal("agreement"),
      value,
      inputs: z.number().int(),
      distribution: z.string().max(256).meta({ description: "What the inputs were drawn from" }),
      sameTop: z.number().min(0).max(1).meta({
        description: "Share of inputs with the same largest element in every output",
      }),
      relativeError: z.number().min(0).meta({
        description: "Root mean square of the differences, relative to that of the parent's answers",
      }),
    }),
  ])
  .meta({ id: "MeasuredFidelity" });
export type MeasuredFidelity = z.infer<typeof MeasuredFidelity>;

const share = (description: string) => z.number().gt(0).lt(1).meta({ description });

const LowRank = z
  .strictObject({
    method: z.literal("low-rank"),
    energy: share("Share of the squared singular values that every layer keeps").optional(),
    rank: z.number().int().min(1).max(LIMITS.recipeRank).optional().meta({ description: "Of every layer" }),
    minFidelity: share("The least energy is searched whose measured fidelity is this, or more").optional(),
  })
  .refine(({ energy, rank, minFidelity }) => isOne(energy, rank, minFidelity), {
    path: ["energy"],
    message: "must be given, or rank, or minFidelity, and only one of them",
  });

const Pruned = z
  .strictObject({
    method: z.literal("pruned"),
    sparsity: share("Share of the weights of every layer that become zero: the smallest").optional(),
    channels: share(
      "Share of the output channels of every layer that are taken out, with what reads them: the smallest",
    ).optional(),
  })
  .refine(({ sparsity, channels }) => isOne(sparsity, channels), {
    path: ["sparsity"],
    message: "must be given, or channels, and only one of them",
  });

function isOne(...wishes: readonly (number | undefined)[]): boolean {
  return wishes.filter((wish) => wish !== undefined).length === 1;
}

const size = (most: number) => z.number().int().min(1).max(most);

/** One layer of a student; a ReLU follows each but a pool, and a dense layer for the classes the last. */
const StudentLayer = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("conv"),
    filters: size(LIMITS.studentWidth),
    kernel: size(LIMITS.studentKernel),
    stride: size(LIMITS.studentKernel).default(1),
  }),
  z.strictObject({ kind: z.literal("pool"), size: size(LIMITS.studentKernel) }),
  z.strictObject({ kind: z.literal("dense"), units: size(LIMITS.studentWidth) }),
]);

const Distilled = z.strictObject({
  method: z.literal("distilled"),
  student: z.array(StudentLayer).min(1).max(LIMITS.studentLayers),
  temperature: z.number().min(0.1).max(100).default(2),
  alpha: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .meta({
      description:
        "Share of the teacher's answers in the loss; the rest is the labels', where the data have classes. A network of" +
        " numbers teaches by squared differences, without `temperature` and `alpha`",
    }),
  epochs: size(LIMITS.studentEpochs).default(30),
  batchRows: size(LIMITS.batchRows).default(32),
  learningRate: z.number().gt(0).max(1).default(0.001),
  lessonRows: size(LIMITS.lessonRows).default(2_048).meta({
    description: "Rows of the version's data, half of them at most, or as many seeded inputs where it has none",
  }),
  seed: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1),
});

/** Method that makes a variant of the version's own file; docs/methodology.md describes each. */
export const Recipe = z
  .discriminatedUnion("method", [
    z.strictObject({ method: z.literal("fp16") }),
    z.strictObject({
      method: z.literal("int8"),
      activations: z
        .enum(["float", "dynamic", "static"])
        .default("float")
        .meta({
          description:
            "`static`: of one byte too, in ranges that calibration finds; `dynamic`: those of matrix products, in the" +
            " range of each row at each request; `float`: only weights are",
        }),
      calibrationRows: z.number().int().min(1).max(LIMITS.calibrationRows).default(128).meta({
        description:
          "Of `static`: rows of the version's data, half of them at most, or as many seeded inputs where it has none",
      }),
    }),
    z.strictObject({
      method: z.literal("int4"),
      blockSize: z
        .union([z.literal(32), z.literal(128)])
        .default(32)
        .meta({ description: "Weights that share a scale" }),
    }),
    LowRank,
    Pruned,
    Distilled,
  ])
  .meta({ id: "Recipe" });
export type Recipe = z.infer<typeof Recipe>;
