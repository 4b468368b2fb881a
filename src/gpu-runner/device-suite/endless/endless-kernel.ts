import { readFile } from "node:fs/promises";
import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { KernelDefinition, type KernelProgram } from "../../../protocol/kernels/kernel-definition.ts";
import { createId } from "../../../protocol/wire/id.ts";

const FOLDER = new URL(".", import.meta.url);
const FILE = "endless.wgsl";
const N = 64;

/** A kernel whose dispatch never ends. */
export const ENDLESS: KernelSpec<"n"> = {
  name: "endless",
  description: "Never ends",
  folder: FOLDER,
  dimensions: [{ name: "n", description: "Elements", min: N, max: N, default: N }],
  dtypes: ["float32"],
  bindings: [{ name: "values", access: "write", dtype: "float32", extents: ({ n }) => [n], alignment: [1] }],
  variants: [
    {
      name: "only",
      file: FILE,
      axes: [],
      passes: [{ entryPoint: "main", workgroups: () => [1, 1, 1] }],
    },
  ],
  flops: () => 0,
  bytes: ({ n }) => 4 * n,
  tolerance: { relative: 0, absolute: () => 0, reason: "nothing is ever compared" },
  generate: () => ({}),
  reference: (_, { n }) => ({ output: "values", length: n, elementFlops: 1, element: () => 0 }),
};

/** The same kernel as a user would submit it, with a time limit of its own. */
export async function submitEndless(timeoutMs: number): Promise<KernelProgram> {
  const definition = KernelDefinition.parse({
    name: ENDLESS.name,
    wgsl: await readFile(new URL(FILE, FOLDER), "utf8"),
    passes: [{ entryPoint: "main", workgroups: [1] }],
    dimensions: [{ name: "n", min: N, max: N, default: N }],
    bindings: [{ name: "values", access: "write", dtype: "float32", extents: ["n"] }],
    limits: { timeoutMs },
    tolerance: { relative: 0, absolute: 0 },
    reference: { kind: "expected", inputs: {}, outputs: { values: Array.from({ length: N }, () => 0) } },
  });
  return { id: createId("kernel"), definition, reference: null };
}
