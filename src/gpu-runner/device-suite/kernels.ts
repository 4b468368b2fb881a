import type { AxisValues, KernelShape, KernelSpec, KernelVariant } from "../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../kernels/registry.ts";
import { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import { readSources } from "../kernels/dispatch/kernel-sources.ts";
import { explainMisfit } from "../kernels/tuning/list-candidates.ts";
import type { Check, SuiteContext } from "./check.ts";
import { runCheck, skipCheck } from "./run-check.ts";

const PART = "kernels";
/** Limit of one run with its check, which takes milliseconds on a GPU, and seconds on an emulation. */
const TIMEOUT_MS = { gpu: 30_000, emulation: 120_000 } as const;
/** An emulation computes sizes above the first divided by the second: barriers make default shapes take minutes. */
const EMULATED = { leastSize: 64, divisor: 8 } as const;

/**
 * Runs every variant of every kernel with each value of each of its axes, and compares its outputs with the kernel's
 * f64 reference.
 */
export async function* checkKernels(
  context: SuiteContext,
  kernels: ReadonlyMap<string, KernelSpec> = KERNELS,
): AsyncGenerator<Check> {
  for (const kernel of kernels.values()) {
    const missing = (kernel.features ?? []).filter((feature) => !context.host.device.features.includes(feature));
    if (missing.length === 0) yield* checkKernel(context, kernel);
    else if (!context.done(kernel.name)) yield skipCheck(PART, kernel.name, `the device lacks ${missing.join(", ")}`);
  }
}

async function* checkKernel(context: SuiteContext, kernel: KernelSpec): AsyncGenerator<Check> {
  const { host, done } = context;
  const sources = await readSources(kernel);
  for (const variant of kernel.variants) {
    const shape = shapeFor(kernel, variant, host.device.software);
    const explain = (axes: AxisValues) => explainMisfit({ variant, axes }, shape, sources, host.device.limits);
    for (const axes of coverAxes(variant, (each) => explain(each) === null)) {
      const name = nameOf(kernel, variant, axes);
      if (done(name)) continue;
      const misfit = explain(axes);
      if (misfit !== null) {
        yield skipCheck(PART, name, misfit);
        continue;
      }
      const spec = BenchmarkSpec.parse({
        kind: "benchmark",
        kernel: kernel.name,
        variant: variant.name,
        shape,
        warmup: 0,
        iterations: 1,
        timeoutMs: TIMEOUT_MS[host.device.software ? "emulation" : "gpu"],
      });
      yield await runCheck({ part: PART, name }, context, async (signal) => {
        const { correctness, wallMs } = await host.benchmark(spec, { axes, signal });
        const { checkedElements, maxRelativeError } = correctness;
        return { figures: { checkedElements, maxRelativeError, wallMs: wallMs.p50 } };
      });
    }
  }
}

/** The smallest shape that measures a roof, or the default one: enough work for many workgroups of any size. */
function shapeFor({ dimensions, peak }: KernelSpec, variant: KernelVariant, isEmulated: boolean): KernelShape {
  const shape = peak?.shapes[0] ?? Object.fromEntries(dimensions.map((each) => [each.name, each.default]));
  const { leastSize, divisor } = EMULATED;
  const shrink = (size: number) => (size <= leastSize ? size : Math.max(leastSize, Math.floor(size / divisor)));
  const smaller = Object.fromEntries(Object.entries(shape).map(([name, size]) => [name, shrink(size)]));
  return isEmulated && (variant.takes?.(smaller) ?? true) ? smaller : shape;
}

/**
 * The defaults of a variant, and then settings in which every other value of every axis occurs at least once. Values of
 * several axes share a setting where that fits the device; else each has one of its own beside the others' defaults.
 */
export function coverAxes({ axes }: Pick<KernelVariant, "axes">, fits: (axes: AxisValues) => boolean): AxisValues[] {
  const defaults = Object.fromEntries(axes.map((axis) => [axis.name, axis.default]));
  const others = axes.map((axis) => ({ name: axis.name, values: axis.values.filter((each) => each !== axis.default) }));
  const settings = Math.max(0, ...others.map(({ values }) => values.length));
  const further = Array.from({ length: settings }, (_, index) => {
    const changes = others.flatMap(({ name, values }) => (index < values.length ? [{ [name]: values[index]! }] : []));
    const together = { ...defaults, ...Object.assign({}, ...changes) };
    return fits(together) ? [together] : changes.map((change) => ({ ...defaults, ...change }));
  });
  return [defaults, ...further.flat()];
}

function nameOf({ name }: KernelSpec, variant: KernelVariant, axes: AxisValues): string {
  return [name, variant.name, ...Object.entries(axes).map(([axis, value]) => `${axis}=${value}`)].join(" ");
}
