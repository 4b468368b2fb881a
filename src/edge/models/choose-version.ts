import type { ModelVersion } from "../../protocol/models/model.ts";

/**
 * Version of a model: the requested number, or by default the latest that runs somewhere, since a new version takes
 * over once it is calibrated. Null where there is none. `versions` rise.
 */
export function chooseVersion<Version extends Pick<ModelVersion, "id" | "version">>(
  versions: readonly Version[],
  wanted: string | undefined,
  isPlaced: (id: string) => boolean,
): Version | null {
  if (wanted !== undefined) return versions.find(({ version }) => String(version) === wanted) ?? null;
  return versions.findLast(({ id }) => isPlaced(id)) ?? versions.at(-1) ?? null;
}
