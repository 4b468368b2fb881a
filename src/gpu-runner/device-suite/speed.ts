import type { Roofline } from "../../protocol/fleet/roofline.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import { locateUnderRoof } from "../kernels/roofline/locate-under-roof.ts";
import { CaseSpeeds, medianMs, type SizedCase } from "./case-speed.ts";
import type { Check, Part, SuiteContext } from "./check.ts";
import { type Finding, runCheck } from "./run-check.ts";
import { SPEED_CASES, type SpeedCase } from "./speed-cases.ts";

const PART = "speed";
const ROOFS_LIMIT_MS = 70_000;
const CASE_LIMIT_MS = 70_000;

/** The device's roofs, then the speed of kernels at common sizes, by the default choice and tuned for four seconds. */
export function createSpeedPart(cases: readonly SpeedCase[] = SPEED_CASES): Part {
  return async function* speed(context) {
    if (!context.done("roofs")) yield await checkRoofs(context);
    const taken = new Map<string, string>();
    for (const speedCase of cases) yield* checkCase(context, speedCase, taken);
  };
}

/** It fails where the device cannot run a kernel that measures a roof, except in a type that it does not have. */
function checkRoofs(context: SuiteContext): Promise<Check> {
  return runCheck({ part: PART, name: "roofs", limitMs: ROOFS_LIMIT_MS }, context, async (signal) => {
    const roofs = await CaseSpeeds.of(context.host).roofs(signal);
    const lacksHalf = !context.host.device.features.includes("shader-f16");
    const missing = Object.entries(roofs.missing).filter(([name]) => !(name === "float16" && lacksHalf));
    if (missing.length > 0) throw new Error(missing.map(([name, reason]) => `${name}: ${reason}`).join("; "));
    return { figures: describeRoofs(roofs) };
  });
}

function describeRoofs({ gflops, gigabytesPerSecond, tookMs }: Roofline): Record<string, number | string> {
  const figures: Record<string, number | string> = { tookMs };
  for (const [unit, peaks] of Object.entries({ gflops, gigabytesPerSecond })) {
    for (const [name, peak] of Object.entries(peaks)) {
      if (peak === null) continue;
      figures[`${unit} ${name}`] = peak.value;
      figures[`choice ${name}`] =
        `${peak.kernel} ${peak.variant} ${describeNumbers(peak.axes)} at ${describeNumbers(peak.shape)}, ${peak.clock}`;
    }
  }
  return figures;
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
