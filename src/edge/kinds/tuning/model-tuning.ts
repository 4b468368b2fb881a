import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import type { Environment } from "../../../protocol/jobs/job-fields.ts";
import type { NetworkTuning, TuningResult, TuningSpec } from "../../../protocol/jobs/tuning.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import { chooseVersion } from "../../models/choose-version.ts";
import type { Database } from "../../store/database.ts";
import { readLivePlacements } from "../../store/fleet/live-placement-store.ts";
import type { Measurement } from "../../store/history/point-store.ts";
import { findAnyVersion, type NamedVersion, readVersionsOf, toPlacedModel } from "../../store/models/model-store.ts";
import type { InputOf, JobSurroundings, OfferContext, Prepared, RunContext } from "../kind.ts";
import { pointsOf } from "../subjects/run-points.ts";

/** Whether a runner has a device that serves models by our own kernels. */
export function servesNetworks({ devices }: Capabilities): boolean {
  return devices.some(({ backends, servesModels = false }) => servesModels && backends.includes("wgsl"));
}

/** Finds the version to tune. */
export async function prepareModel(
  spec: InputOf<TuningSpec> & { readonly model: string },
  { db, candidates }: JobSurroundings,
): Promise<Prepared<TuningSpec>> {
  const [name = "", number] = spec.model.split("@", 2);
  const placed = new Set((await readLivePlacements(db)).map(({ modelVersionId }) => modelVersionId));
  const version = chooseVersion(await readVersionsOf(db, name), number, (id) => placed.has(id));
  if (version === null) {
    return { spec, errors: [{ pointer: "#/model", message: "is not a model that was uploaded" }] };
  }
  const variant = spec.variant ?? version.variants[0]!.name;
  const errors = [...checkFields(spec), ...checkVersion(version, variant)];
  if (candidates.length > 0 && !candidates.some(({ capabilities }) => servesNetworks(capabilities))) {
    const message = "needs a device that serves models by wgsl, and no runner that may take this job has one";
    errors.push({ pointer: "#/model", message });
  }
  const model = `${version.model}@${version.version}`;
  return { spec: { ...spec, model, variant, modelVersionId: version.id }, errors };
}

/** Sizes and element types are those that the model declares. */
function checkFields({ shape, dtype }: TuningSpec): FieldError[] {
  const message = "must be absent: a model is tuned at the sizes that it declares";
  return [
    ...(Object.keys(shape).length > 0 ? [{ pointer: "#/shape", message } as const] : []),
    ...(dtype !== undefined ? [{ pointer: "#/dtype", message } as const] : []),
  ];
}

function checkVersion({ files, variants }: NamedVersion, variant: string): FieldError[] {
  const names = variants.map(({ name }) => name);
  if (!names.includes(variant)) return [{ pointer: "#/variant", message: `must be one of: ${names.join(", ")}` }];
  if (files.length === 0) return [];
  return [{ pointer: "#/model", message: `must be a file of at most ${LIMITS.modelBytes} bytes for our own kernels` }];
}

export async function offerModel(db: Database, { modelVersionId = "" }: TuningSpec): Promise<OfferContext> {
  const version = await findAnyVersion(db, modelVersionId);
  return { model: version === null ? null : toPlacedModel(version, []) };
}

export function answersModel({ modelVersionId, variant }: TuningSpec, { network }: TuningResult): boolean {
  return network !== undefined && network.modelVersionId === modelVersionId && network.variant === variant;
}

/** A tuning's points in the history of its model: the runs of what serves from now on, by sizes. */
export function measureNetwork(
  { model, variant, sizes }: NetworkTuning,
  environment: Environment,
  run: RunContext,
): Measurement[] {
  return sizes.map(({ inputs, after }) => {
    const shapes = Object.entries(inputs).map(([name, shape]) => `${name} ${shape.join("×")}`);
    const configuration = {
      variant,
      backend: "wgsl",
      device: environment.deviceName,
      sizes: shapes.join(", ").slice(0, LIMITS.configurationLength),
    };
    const point = pointsOf(run, { subjectKind: "model", subject: model, configuration, environment });
    return point("tunedMs", "ms", "lower", after.ms, "runner-wall");
  });
}
