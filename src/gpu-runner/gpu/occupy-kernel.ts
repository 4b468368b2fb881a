import { readFile } from "node:fs/promises";
import type { Device } from "../../protocol/hardware.ts";
import type { PredictedOccupancy } from "../../protocol/occupancy.ts";
import { predictOccupancy } from "./predict-occupancy.ts";
import { readWorkgroup } from "./read-workgroup.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";

/**
 * Predicted occupancy of a kernel's largest pass; null on a software device, where the architecture is not in
 * the table, and where the WGSL does not tell plainly what a workgroup takes.
 */
export async function occupyKernel(
  { software, fingerprint }: Pick<Device, "software" | "fingerprint">,
  { kernel, variant, shape, axes }: KernelChoice,
): Promise<PredictedOccupancy | null> {
  const adapter = fingerprint.adapter ?? "";
  if (software || predictOccupancy(adapter, { lanes: 1, memoryBytes: 0 }) === null) return null;
  const code = variant.code ?? (await readFile(new URL(variant.file, kernel.folder), "utf8"));
  const overrides = { ...axes, ...variant.constants?.(shape) };
  const passes = variant.passes.map((pass) => {
    const needs = readWorkgroup(code, pass.entryPoint, overrides);
    const groups = pass.workgroups(shape, axes).reduce((product, count) => product * count, 1);
    return needs === null ? null : { needs, lanes: groups * needs.lanes };
  });
  const known = passes.filter((pass) => pass !== null);
  const largest = known.toSorted((a, b) => b.lanes - a.lanes)[0];
  return largest === undefined || known.length < passes.length ? null : predictOccupancy(adapter, largest.needs);
}
