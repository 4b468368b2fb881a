import type { ModelVersion } from "../../protocol/models/model.ts";

/**
 * The requested version of a model, from versions in rising order; without a request, the latest that runs somewhere,
 * so that a new version takes over once it is calibrated. Null if there is none.
 */
export function chooseVersion<Version extends Pick<ModelVersion, "id" | "version">>(
  versions: readonly Version[],
  wanted: string | undefined,
  isPlaced: (id: string) => boolean,
): Version | null {
  if (wanted !== undefined) return versions.find(({ version }) => String(version) === wanted) ?? null;
  return versions.findLast(({ id }) => isPlaced(id)) ?? versions.at(-1) ?? null;
}
