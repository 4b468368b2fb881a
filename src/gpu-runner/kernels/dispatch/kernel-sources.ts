import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { KernelShape, KernelSpec } from "../../../../kernels/kernel-spec.ts";
import type { KernelAnnouncement } from "../../../protocol/fleet/hardware.ts";

/** Kernels as the edge sees them: names, sizes and bounds, never a program. */
export function announceKernels(kernels: ReadonlyMap<string, KernelSpec>): KernelAnnouncement[] {
  return [...kernels.values()].map(
    ({ name, description, dimensions, batchDimension, dtypes, features, variants, bindings }) => ({
      name,
      description,
      dimensions: [...dimensions],
      ...(batchDimension !== undefined && { batchDimension }),
      dtypes: [...dtypes],
      ...(features !== undefined && { features: [...features] }),
      variants: variants.map((variant) => variant.name),
      bindings: bindings.map((binding) => ({
        name: binding.name,
        access: binding.access,
        dtype: binding.dtype,
        alignment: [...binding.alignment],
      })),
      axes: Object.fromEntries(
        variants.map((variant) => [
          variant.name,
          variant.axes.map(({ name: axis, values, default: standard }) => ({
            name: axis,
            values: [...values],
            default: standard,
          })),
        ]),
      ),
    }),
  );
}

/** SHA-256 over a kernel's files except its tests: a changed program under the same name has another digest. */
export async function digestKernel({ name, folder }: KernelSpec): Promise<string> {
  const files = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => entry.name);
  const hash = createHash("sha256").update(name);
  for (const file of files.toSorted()) hash.update(file).update(await readFile(new URL(file, folder)));
  return hash.digest("hex");
}

/** WGSL of a kernel's variants by file. */
export type KernelSources = ReadonlyMap<string, string>;

export async function readSources({ folder, variants }: KernelSpec): Promise<KernelSources> {
  const files = [...new Set(variants.map(({ file }) => file))];
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(new URL(file, folder), "utf8")] as const)),
  );
}

/**
 * Digest of a search's candidates at a shape: names, axes and WGSL of the variants that support it. It changes with the
 * kernel, and for a shape of the same bucket that other variants support.
 */
export function digestCandidates(kernel: KernelSpec, shape: KernelShape, sources: KernelSources): string {
  const possible = kernel.variants.filter((variant) => variant.takes?.(shape) ?? true);
  const variants = possible.map(({ name, file, axes, passes }) => [
    name,
    axes.map((axis) => [axis.name, axis.values, axis.default]),
    passes.map(({ entryPoint }) => entryPoint),
    sources.get(file),
  ]);
  const text = JSON.stringify([kernel.name, variants]);
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
