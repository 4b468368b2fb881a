import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/serving-configuration.ts";

/** What a series says of threads: nothing as long as they are what every placement begins with. */
export function threadsOf({ threads }: Pick<ServingConfiguration, "threads"> = DEFAULT_CONFIGURATION): {
  threads?: number;
} {
  return threads === DEFAULT_CONFIGURATION.threads ? {} : { threads };
}
