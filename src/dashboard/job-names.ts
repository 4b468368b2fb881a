import type { Model } from "../protocol/model.ts";
import type { Runner } from "../protocol/runner.ts";

/** Names by id, of what jobs tell by id alone: versions of models, and runners. */
export interface JobNames {
  readonly models: ReadonlyMap<string, string>;
  readonly runners: ReadonlyMap<string, string>;
}

/** The names of what is known so far. */
export function listJobNames(models: readonly Model[], runners: readonly Runner[]): JobNames {
  return {
    models: new Map(
      models.flatMap(({ name, versions }) => versions.map(({ id, version }) => [id, `${name}@${version}`] as const)),
    ),
    runners: new Map(runners.map(({ id, name }) => [id, name])),
  };
}
