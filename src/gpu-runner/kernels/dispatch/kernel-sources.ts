import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { KernelShape, KernelSpec, KernelVariant } from "../../../../kernels/kernel-spec.ts";
import type { KernelAnnouncement } from "../../../protocol/fleet/hardware.ts";
import { joinParts, readProgram } from "../../devices/gpu/kernel-loader.ts";

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

/** SHA-256 of the files of a kernel, shared ones included, without tests: a changed program has another digest. */
export async function digestKernel({ name, folder, variants }: KernelSpec): Promise<string> {
  const own = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => new URL(entry.name, folder).href);
  const shared = variants.flatMap((variant) => variant.shared ?? []).map(({ href }) => href);
  const hash = createHash("sha256").update(name);
  for (const file of new Set([...own.toSorted(), ...shared.toSorted()])) {
    hash.update(basename(file)).update(await readFile(new URL(file)));
  }
  return hash.digest("hex");
}

/** Complete WGSL of the variants of a kernel, by their own file. */
export type KernelSources = ReadonlyMap<string, string>;

export async function readSources(kernel: Pick<KernelSpec, "name" | "folder" | "variants">): Promise<KernelSources> {
  const read = async (variant: KernelVariant) => [variant.file, joinParts(await readProgram(kernel, variant))] as const;
  return new Map(await Promise.all(kernel.variants.map(read)));
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
