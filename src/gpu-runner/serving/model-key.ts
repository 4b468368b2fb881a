import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/serving-configuration.ts";

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
