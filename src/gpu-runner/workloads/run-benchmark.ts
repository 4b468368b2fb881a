import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import { locateUnderRoof } from "../gpu/locate-under-roof.ts";
import type { Device } from "../../protocol/hardware.ts";
import { tuningIdOf } from "../../protocol/tuning.ts";
import type { TuningCache } from "../memory/tuning-cache.ts";
import { describeEnvironment } from "./describe-environment.ts";
import { describeTuningKey, suitsShape } from "./tuning-key.ts";
import type { Workload } from "./workload.ts";

/**
 * Checks and times a kernel in the process of the device that has it, tuned where that is known and
 * wanted; a submitted one in a process of its own. Then it is placed under the device's roofs, which are
 * measured behind the first benchmark that wants them, so that they disturb none.
 */
export const runBenchmark: Workload<BenchmarkSpec> = async (spec, context) => {
  const { fleet, tunings, program, rooflines, otherJobs, signal, onProgress } = context;
  const { host } = program === null ? fleet.withKernel(spec.kernel, spec.variant) : fleet.forProgram(program);
  const environment = describeEnvironment(host.device, otherJobs);
  const options = { onProgress, signal };
  const isOpen = program === null && spec.tuned && spec.variant === undefined;
  const tuned = isOpen ? await findTuned(tunings, host.device, spec) : null;
  const { traceText, ...measured } =
    program === null
      ? await host.benchmark({ ...spec, ...tuned }, options)
      : await host.benchmarkProgram(spec, program, options);
  const { roofline, missing } = await rooflines.ensure(host, Date.now(), options);
  const position = locateUnderRoof(measured, roofline, missing);
  const result = { kind: "benchmark", ...measured, tuned: tuned !== null, roofline: position, environment } as const;
  return { result, deviceKey: host.device.key, traceText };
};

/** The variant and axes that a search found to be best for this problem's bucket; null where none is known. */
async function findTuned(
  tunings: TuningCache,
  device: Device,
  spec: BenchmarkSpec,
): Promise<Pick<BenchmarkSpec, "variant" | "axes"> | null> {
  const key = await describeTuningKey(device, spec);
  const known = key === null ? null : await tunings.find(await tuningIdOf(key));
  if (known === null) return null;
  const { variant, axes } = known.tuning.best;
  return (await suitsShape(device, spec, { variant, axes })) ? { variant, axes } : null;
}
