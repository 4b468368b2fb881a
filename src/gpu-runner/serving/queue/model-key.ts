import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { PlacedModel } from "../../../protocol/link.ts";

/** Configuration of a variant on a device from the edge, with the defaults of every placement. */
export function configurationIn(
  { places = [] }: PlacedModel,
  deviceKey: string,
  variant: string,
): ServingConfiguration {
  const place = places.find((each) => each.deviceKey === deviceKey && each.variant === variant);
  return place?.configuration ?? DEFAULT_CONFIGURATION;
}

/** Version and variant of a file. */
export interface ServedVariant {
  readonly modelVersionId: string;
  readonly variant: string;
}

/**
 * Key of a file with a number of threads in a device's process: several may be loaded at once. Other settings belong to
 * the queue, and share the loaded file.
 */
export function modelKeyOf({
  modelVersionId,
  variant,
  threads = DEFAULT_CONFIGURATION.threads,
}: ServedVariant & Partial<Pick<ServingConfiguration, "threads">>): string {
  const key = `${modelVersionId}/${variant}`;
  return threads === DEFAULT_CONFIGURATION.threads ? key : `${key}/threads-${threads}`;
}
