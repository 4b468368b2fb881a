import type { Peak, Roofline } from "../../protocol/fleet/roofline.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import { locateUnderRoof } from "../kernels/roofline/locate-under-roof.ts";
import { CaseSpeeds, medianMs, type SizedCase } from "./case-speed.ts";
import type { Check, Part, SuiteContext } from "./check.ts";
import { type Finding, runCheck } from "./run-check.ts";
import { SPEED_CASES, type SpeedCase } from "./speed-cases.ts";

const PART = "speed";
const ROOFS = ["float32", "float16", "int8", "triad", "copy", "read"] as const;
const ROOFS_LIMIT_MS = 70_000;
const CASE_LIMIT_MS = 70_000;

/** The device's roofs, then the speed of kernels at common sizes, by the default choice and tuned for four seconds. */
export function createSpeedPart(cases: readonly SpeedCase[] = SPEED_CASES): Part {
  return async function* speed(context) {
    yield* checkRoofs(context);
    const taken = new Map<string, string>();
    for (const speedCase of cases) yield* checkCase(context, speedCase, taken);
  };
}

/** A roof fails where its kernel does not run; it is skipped in a type that the device does not have. */
async function* checkRoofs(context: SuiteContext): AsyncGenerator<Check> {
  for (const name of ROOFS) {
    const check = `roof ${name}`;
    if (context.done(check)) continue;
    yield await runCheck({ part: PART, name: check, limitMs: ROOFS_LIMIT_MS }, context, async (signal) => {
      const { gflops, gigabytesPerSecond, missing } = await CaseSpeeds.of(context.host).roofs(signal);
      const peak = { ...gflops, ...gigabytesPerSecond }[name];
      if (peak !== null) return { figures: describePeak(peak, name in gflops ? "gflops" : "gigabytesPerSecond") };
      const lacksType = name === "float16" && !context.host.device.features.includes("shader-f16");
      if (lacksType) return { skipped: "The device has no shader-f16." };
      throw new Error(missing[name] ?? "It was not measured.");
    });
  }
}

function describePeak({ value, variant, axes, shape, clock, rounds, min, max }: Peak, unit: string) {
  const choice = { variant, axes: describeNumbers(axes), shape: describeNumbers(shape), clock };
  return { [unit]: value, least: min, most: max, ...choice, runs: rounds };
}

/** The default choice of a case, and its tuned one; `taken` has the names of sizes that were measured, by size. */
async function* checkCase(
  context: SuiteContext,
  speedCase: SpeedCase,
  taken: Map<string, string>,
): AsyncGenerator<Check> {
  const speeds = CaseSpeeds.of(context.host);
  const check = (name: string, measure: (sized: SizedCase, signal: AbortSignal) => Promise<Finding>) =>
    runCheck({ part: PART, name, limitMs: CASE_LIMIT_MS }, context, async (signal) => {
      const sized = await speeds.size(speedCase, signal);
      const size = `${sized.kernel} ${describeNumbers(sized.shape)}`;
      const other = taken.get(size) ?? speedCase.name;
      taken.set(size, other);
      if (other !== speedCase.name) return { skipped: `Too large for this device; at its size it is ${other}.` };
      return measure(sized, signal);
    });
  const [untuned, tuned] = [`${speedCase.name} default`, `${speedCase.name} tuned`];
  if (!context.done(untuned)) {
    yield await check(untuned, async (sized, signal) => {
      const measured = await speeds.untuned(sized, signal);
      return { figures: describeSpeed(measured, await speeds.roofsOrNull(signal)) };
    });
  }
  if (!context.done(tuned)) {
    yield await check(tuned, async (sized, signal) => {
      const { measured, tuning, tried } = await speeds.tuned(sized, signal);
      // A default that fails has a check of its own to say so.
      const initial = await speeds.untuned(sized, signal).catch(() => null);
      const ratio = initial === null ? {} : { tunedOverDefault: medianMs(initial) / medianMs(measured) };
      const search = { candidates: tuning.candidates, triedCandidates: tried, searchMs: tuning.spentMs };
      return { figures: { ...describeSpeed(measured, await speeds.roofsOrNull(signal)), ...ratio, ...search } };
    });
  }
}

/** Figures of a benchmark, which compared its outputs with the reference before it was timed. */
function describeSpeed(measured: BenchmarkMeasurement, roofs: Roofline | null): Record<string, number | string> {
  const { variant, axes, shape, gflops, gigabytesPerSecond, wallMs, clock, correctness } = measured;
  const { shareOfRoof, bound } = locateUnderRoof(measured, roofs);
  return {
    p50Ms: medianMs(measured),
    ...(gflops !== null && { gflops }),
    gigabytesPerSecond,
    ...(shareOfRoof !== null && { shareOfRoof }),
    ...(bound !== null && { bound }),
    variant,
    axes: describeNumbers(axes),
    shape: describeNumbers(shape),
    clock,
    wallP50Ms: wallMs.p50,
    runs: wallMs.count,
    checkedElements: correctness.checkedElements,
    maxRelativeError: correctness.maxRelativeError,
  };
}

/** Named numbers as text, such as `m=16 n=4096`. */
export function describeNumbers(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}
