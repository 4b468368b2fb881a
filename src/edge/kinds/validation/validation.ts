import type { ValidationSpec } from "../../../protocol/jobs/validation.ts";
import type { JobKindModule, KernelTarget } from "../kind.ts";
import { canRunNow, hasDevice } from "../subjects/kernel-devices.ts";
import { isAbout, latenciesOf, offerPlaced } from "../subjects/placed-subject.ts";
import { prepareValidation } from "./prepare-validation.ts";
import { storeValidation } from "./store-validation.ts";

export const validation: JobKindModule<ValidationSpec> = {
  prepare: prepareValidation,
  target: targetOf,
  mayRun: (spec, capabilities, nowMs) => {
    const target = targetOf(spec);
    return target === null ? hasDevice(capabilities, spec.deviceKey) : canRunNow(target, capabilities, nowMs);
  },
  offer: offerPlaced,
  answers: (spec, result) =>
    isAbout(spec, result) &&
    result.place.placementId === (spec.placementId ?? null) &&
    (spec.deviceKey === undefined || result.place.deviceKey === spec.deviceKey),
  distributions: latenciesOf,
  store: storeValidation,
  verdictSql: "result->>'verdict'",
};

function targetOf({ subject, deviceKey }: ValidationSpec): KernelTarget | null {
  return subject.kind === "kernel" ? { ...subject, deviceKey } : null;
}
