import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { KernelShape, KernelSpec } from "../../../kernels/kernel-spec.ts";

/** The WGSL of a kernel's variants by file. */
export type KernelSources = ReadonlyMap<string, string>;

export async function readSources({ folder, variants }: KernelSpec): Promise<KernelSources> {
  const files = [...new Set(variants.map(({ file }) => file))];
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(new URL(file, folder), "utf8")] as const)),
  );
}

/**
 * Digest of what a search at a shape chooses from: names, axes and WGSL of the variants that take it. A
 * changed kernel has another one, and so has a shape of the same bucket that other variants take.
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
