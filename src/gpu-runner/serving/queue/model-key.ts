import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { PlacedModel } from "../../../protocol/link.ts";

/** How the edge wants a variant served on a device; what it says nothing of begins like every placement. */
export function configurationIn(
  { places = [] }: PlacedModel,
  deviceKey: string,
  variant: string,
): ServingConfiguration {
  const place = places.find((each) => each.deviceKey === deviceKey && each.variant === variant);
  return place?.configuration ?? DEFAULT_CONFIGURATION;
}

/** Which file of which version. */
export interface ServedVariant {
  readonly modelVersionId: string;
  readonly variant: string;
}

/**
 * A file under so many threads, as a device's process knows it: several may be loaded at once. What else a
 * configuration says is the queue's business, and shares what is loaded.
 */
export function modelKeyOf({
  modelVersionId,
  variant,
  threads = DEFAULT_CONFIGURATION.threads,
}: ServedVariant & Partial<Pick<ServingConfiguration, "threads">>): string {
  const key = `${modelVersionId}/${variant}`;
  return threads === DEFAULT_CONFIGURATION.threads ? key : `${key}/threads-${threads}`;
}
