import type { ModelVersion } from "../../protocol/models/model.ts";

/**
 * Of a model's versions, rising, the one with the number that was asked for; where none was, the latest that runs
 * somewhere: a new version takes over once it is calibrated. Null where there is none.
 */
export function chooseVersion<Version extends Pick<ModelVersion, "id" | "version">>(
  versions: readonly Version[],
  wanted: string | undefined,
  isPlaced: (id: string) => boolean,
): Version | null {
  if (wanted !== undefined) return versions.find(({ version }) => String(version) === wanted) ?? null;
  return versions.findLast(({ id }) => isPlaced(id)) ?? versions.at(-1) ?? null;
}
