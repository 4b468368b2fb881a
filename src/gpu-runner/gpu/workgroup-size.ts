import type { AxisValues } from "../../../kernels/kernel-spec.ts";

/**
 * Invocations of a workgroup along x, y and z as `@workgroup_size` of an entry point states them, with
 * these values for its overrides. Null where it states more than names and numbers.
 */
export function readWorkgroupSize(
  code: string,
  entryPoint: string,
  overrides: AxisValues,
): [number, number, number] | null {
  const stated = new RegExp(`@workgroup_size\\(([^)]*)\\)[^;{}]*\\bfn\\s+${entryPoint}\\b`).exec(code)?.[1];
  if (stated === undefined) return null;
  const names = stated.split(",").map((part) => part.trim());
  const sizes = names
    .filter((name) => name !== "")
    .map((name) => (/^\d+u?$/.test(name) ? Number.parseInt(name, 10) : overrides[name]));
  if (sizes.includes(undefined)) return null;
  const [x = 1, y = 1, z = 1] = sizes;
  return [x, y, z];
}
