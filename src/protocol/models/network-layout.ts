import { z } from "zod";

/** Tiles that may compute the products and convolutions of a network; see kernels/network/tiled-operators.ts. */
export const Tiling = z.enum(["in-registers", "in-slices", "by-size"]);
export type Tiling = z.infer<typeof Tiling>;

/** Spread of a network over the workgroups of our own kernels. */
export const NetworkLayout = z
  .object({
    lanes: z.int().positive().meta({ description: "Lanes per workgroup" }),
    spreadFrom: z.number().nonnegative().meta({
      description: "An operator with more work than this gets a dispatch of its own with many workgroups",
    }),
    tiling: Tiling.nullable().meta({
      description: "Tiles of products and convolutions; null: the one program computes all",
    }),
    groupsAtMost: z
      .int()
      .positive()
      .meta({ description: "Largest number of workgroups per operator and row in the one program" }),
    lineLanes: z
      .int()
      .positive()
      .nullable()
      .meta({ description: "Lanes of a workgroup that shares a long line; null: each line is one lane's" }),
    hasAttention: z.boolean().meta({ description: "Whether attention is one step" }),
    hasNarrowProducts: z.boolean().default(false).meta({
      description: "Whether products by weights of 16, 8 or 4 bits round their activations to 16 or 8 bits",
    }),
  })
  .meta({ id: "NetworkLayout" });
export type NetworkLayout = z.infer<typeof NetworkLayout>;

/** What suits software devices, beside lanes and spread: the one program in few workgroups. */
export const PLAIN = {
  tiling: null,
  groupsAtMost: 32,
  lineLanes: null,
  hasAttention: false,
  hasNarrowProducts: false,
} as const satisfies Partial<NetworkLayout>;

/** Layouts of one network, by the sizes that they were measured at. */
export type NetworkLayouts = Readonly<Record<string, NetworkLayout>>;
