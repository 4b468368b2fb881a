import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Device } from "../../protocol/hardware.ts";
import { tuningIdOf } from "../../protocol/tuning.ts";
import type { TuningCache } from "../memory/tuning-cache.ts";
import { describeTuningKey, suitsShape } from "./tuning-key.ts";

/** The variant and axes that a search found to be best for this problem's bucket; null where none is known. */
export async function findTuned(
  tunings: TuningCache,
  device: Device,
  spec: Pick<BenchmarkSpec, "kernel" | "shape" | "dtype">,
): Promise<Pick<BenchmarkSpec, "variant" | "axes"> | null> {
  const key = await describeTuningKey(device, spec);
  const known = key === null ? null : await tunings.find(await tuningIdOf(key));
  if (known === null) return null;
  const { variant, axes } = known.tuning.best;
  return (await suitsShape(device, spec, { variant, axes })) ? { variant, axes } : null;
}
