import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import { isKernelTuning, type TuningResult, type TuningSpec } from "../../../protocol/jobs/tuning.ts";
import type { Distribution } from "../../../protocol/wire/distribution.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import { openProject } from "../../store/database.ts";
import { appendMeasurements } from "../../store/history/point-store.ts";
import { saveTuning } from "../../store/kernels/tuning-store.ts";
import type { InputOf, JobKindModule, JobSurroundings, Prepared } from "../kind.ts";
import { canRunNow } from "../subjects/kernel-devices.ts";
import { isKernelOurs, offerProgram } from "../subjects/kernel-jobs.ts";
import { answersKernel, checkKernel, measureKernel } from "./kernel-tuning.ts";
import { answersModel, measureNetwork, offerModel, prepareModel, servesNetworks } from "./model-tuning.ts";

/** Of a kernel, or of a model in our own kernels. */
export const tuning: JobKindModule<TuningSpec> = {
  prepare,
  target: (spec) => (isKernelTuning(spec) ? spec : null),
  mayRun: (spec, capabilities: Capabilities, nowMs) =>
    isKernelTuning(spec) ? canRunNow(spec, capabilities, nowMs) : servesNetworks(capabilities),
  judgesRunner: (spec) => isKernelTuning(spec) && isKernelOurs(spec),
  offer: async (db, spec) => (isKernelTuning(spec) ? offerProgram(db, spec) : offerModel(db, spec)),
  answers: (spec, result) => (isKernelTuning(spec) ? answersKernel(spec, result) : answersModel(spec, result)),
  distributions: listDistributions,
  store: async (env, run, context) => {
    const { tuning: found, network, cached, environment } = run.result;
    if (found !== undefined) await saveTuning(openProject(env), run, { tuning: found, cached });
    const points = [
      ...(found === undefined ? [] : measureKernel(found, { cached, environment }, context)),
      ...(network === undefined ? [] : measureNetwork(network, environment, context)),
    ];
    await appendMeasurements(env.DB, points);
  },
};

async function prepare(spec: InputOf<TuningSpec>, surroundings: JobSurroundings): Promise<Prepared<TuningSpec>> {
  const { kernel, model } = spec;
  if (kernel !== undefined && model !== undefined)
    return refuse(spec, "#/model", "must be absent, as there is a kernel");
  if (model !== undefined) return prepareModel({ ...spec, model }, surroundings);
  if (kernel === undefined) return refuse(spec, "#/kernel", "is needed, or a model");
  if (spec.variant !== undefined)
    return refuse(spec, "#/variant", "must be absent: a search tries all variants of a kernel");
  return { spec, errors: checkKernel({ ...spec, kernel }, surroundings) };
}

function refuse(spec: TuningSpec, pointer: FieldError["pointer"], message: string): Prepared<TuningSpec> {
  return { spec, errors: [{ pointer, message }] };
}

function listDistributions({ tuning: found, network }: TuningResult): Distribution[] {
  const ofKernel = found === undefined ? [] : [found.best, ...(found.untuned === null ? [] : [found.untuned])];
  const ofModel = network?.sizes.flatMap(({ before, after }) => [before, after]) ?? [];
  return [...ofKernel, ...ofModel].map(({ ms }) => ms);
}
