/** Workgroups along one dimension of a dispatch, as WebGPU promises them. */
export const MAX_GROUPS = 65_535;

/** Elements of four bytes in the largest binding that WebGPU promises: 128 MiB. */
export const MAX_LENGTH = 2 ** 25;

/** Workgroups of `lanes` invocations that cover so many items; from the limit on, the grid has to stride. */
export function coverItems(items: number, lanes: number): [number, number, number] {
  return [Math.min(MAX_GROUPS, Math.ceil(items / lanes)), 1, 1];
}
