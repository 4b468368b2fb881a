import type { PlacedModel } from "../../protocol/link.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/serving-configuration.ts";

/** How the edge wants a variant served on a device; what it says nothing of begins like every placement. */
export function configurationIn(
  { places = [] }: PlacedModel,
  deviceKey: string,
  variant: string,
): ServingConfiguration {
  const place = places.find((each) => each.deviceKey === deviceKey && each.variant === variant);
  return place?.configuration ?? DEFAULT_CONFIGURATION;
}
