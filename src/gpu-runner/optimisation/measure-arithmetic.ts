import type { PlacedModel } from "../../protocol/link.ts";
import { FIRST_VARIANT } from "../../protocol/model.ts";
import type { Candidate } from "../../protocol/optimisation.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { askOneByOne } from "../workloads/ask-one-by-one.ts";
import { measureFidelity } from "../workloads/measure-fidelity.ts";
import type { WorkloadContext } from "../workloads/workload.ts";
import { createComparedInputs } from "./compared-inputs.ts";
import { onceByKey } from "./once-by-key.ts";

type Context = Pick<WorkloadContext, "fleet" | "models" | "signal">;

/**
 * The fidelity of a candidate: as the uploader of its variant measured it, else how often its largest outputs are
 * those of the version's own file on the CPU provider, which is found out once for a variant on a device.
 */
export function measureArithmetic(
  model: PlacedModel,
  told: Readonly<Record<string, number>>,
  context: Context,
): (candidate: Candidate) => Promise<number> {
  const inputs = createComparedInputs(model);
  const known = new Map<string, Promise<number>>();
  let originals: Promise<Tensor[][]> | null = null;
  const measure = async (deviceKey: string, variant: string): Promise<number> => {
    const { cpu } = context.fleet;
    originals ??= askOneByOne(model, FIRST_VARIANT, cpu.host, inputs, context);
    const answers = await askOneByOne(model, variant, context.fleet.find(deviceKey).host, inputs, context);
    return measureFidelity(await originals, answers);
  };
  return async ({ deviceKey, variant }) => {
    if (told[variant] !== undefined) return told[variant];
    return onceByKey(known, `${deviceKey} ${variant}`, () => measure(deviceKey, variant));
  };
}
