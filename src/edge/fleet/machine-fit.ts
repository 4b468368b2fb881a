import type { Backend, Capabilities, Hardware } from "../../protocol/fleet/hardware.ts";
import type { Profile, TargetCheck } from "../../protocol/fleet/profile.ts";
import type { ServingConfiguration } from "../../protocol/fleet/serving.ts";
import type { Placement } from "../../protocol/models/model.ts";
import type { Requirement } from "../../protocol/models/requirement.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { aggregateQuantile } from "../../stats/distribution/distribution.ts";
import { usableBytes } from "../store/fleet/profile-fit.ts";

/** Measurements and names of a placement. */
export type MeasuredPlacement = Pick<Placement, "id" | "sweep" | "memory" | "configuration" | "validated"> & {
  readonly subject: string;
};

type Targets = Profile["targets"];
type Judged = Pick<TargetCheck, "measured" | "found" | "ok">;

/**
 * Checks a runner's placements against a profile's targets by their calibrations and validations. Latency and
 * throughput apply to each placement on the runner itself; memory applies to all together, within the machine's memory.
 */
export function fitTargets(
  { targets }: Pick<Profile, "targets">,
  hardware: Pick<Hardware, "memoryBytes" | "container">,
  placements: readonly MeasuredPlacement[],
): TargetCheck[] {
  const { latencyMs, throughputRps, memoryBytes } = targets;
  const checks: TargetCheck[] = [];
  for (const placement of placements) {
    const of = { placementId: placement.id, subject: placement.subject };
    if (latencyMs !== undefined) {
      const mend = "take a smaller variant or a faster backend: an optimisation job finds out which";
      checks.push(check("latencyMs", latencyMs, of, judgeLatency(placement, targets, latencyMs), mend));
    }
    if (throughputRps !== undefined) {
      const mend = "raise maxRows or threads of its configuration, or add a runner";
      checks.push(check("throughputRps", throughputRps, of, judgeThroughput(placement, targets, throughputRps), mend));
    }
  }
  const nobody = { placementId: null, subject: null };
  if (placements.length === 0) {
    const unmeasured = { measured: null, found: "no model is measured on this runner", ok: null };
    const mend = "upload a model: it is calibrated here";
    if (latencyMs !== undefined) checks.push(check("latencyMs", latencyMs, nobody, unmeasured, mend));
    if (throughputRps !== undefined) checks.push(check("throughputRps", throughputRps, nobody, unmeasured, mend));
  }
  if (memoryBytes !== undefined) {
    const mend = "place fewer models on this runner, or smaller batches and variants of them";
    checks.push(check("memoryBytes", memoryBytes, nobody, judgeMemory(placements, hardware, memoryBytes), mend));
  }
  return checks;
}

/** True where all targets are reached, false where one is missed; null where none is missed and one is unknown. */
export function reachesAll(checks: readonly TargetCheck[]): boolean | null {
  if (checks.some(({ ok }) => ok === false)) return false;
  return checks.every(({ ok }) => ok === true) ? true : null;
}

function check(
  target: TargetCheck["target"],
  wanted: number,
  of: Pick<TargetCheck, "placementId" | "subject">,
  { measured, found, ok }: Judged,
  mend: string,
): TargetCheck {
  return { target, ...of, wanted, measured, found, ok, mend: ok === true ? null : mend };
}

/** Latency of single rows on the runner, by its validation, else its calibration. */
function judgeLatency({ sweep, validated }: MeasuredPlacement, targets: Targets, limitMs: number): Judged {
  const percentile = targets.percentile ?? 0.5;
  const isProven = hasPassed(validated, ({ metric, percentile: p = 0.99, atMost }) => {
    return metric === "latencyMs" && p >= percentile && atMost !== undefined && atMost <= limitMs;
  });
  const source = validated?.serviceMs ?? sweep[0]?.serviceMs;
  if (source === undefined) return { measured: null, found: "not measured", ok: isProven ? true : null };
  const measured = aggregateQuantile(source, percentile);
  const how = validated?.serviceMs == null ? "calibrated" : "validated";
  const found = `${toText(measured)} ms at ${100 * percentile} %, ${how}${isProven ? ", and required so" : ""}`;
  return { measured, found, ok: isProven || measured <= limitMs };
}

/** Throughput in rows a second of the best batch that the configuration allows and that meets the latency target. */
function judgeThroughput(
  { sweep, configuration, validated }: MeasuredPlacement,
  { latencyMs = Number.POSITIVE_INFINITY, percentile = 0.5 }: Targets,
  limitRps: number,
): Judged {
  const isProven = hasPassed(validated, ({ metric, atLeast }) => {
    return metric === "throughputPerS" && atLeast !== undefined && atLeast >= limitRps;
  });
  const steps = sweep
    .filter(({ rows }) => rows === 1 || rows <= (configuration.maxRows ?? Number.POSITIVE_INFINITY))
    .filter(({ rows, serviceMs }) => rows === 1 || aggregateQuantile(serviceMs, percentile) <= latencyMs)
    .map(({ rows, serviceMs }) => ({ rows, perSecond: (1e3 * rows) / Math.max(serviceMs.mean, Number.EPSILON) }));
  const best = steps.toSorted((a, b) => b.perSecond - a.perSecond)[0];
  if (best === undefined) return { measured: null, found: "not measured", ok: isProven ? true : null };
  const found = `${toText(best.perSecond)} rows a second in batches of ${best.rows}, calibrated`;
  return {
    measured: best.perSecond,
    found: isProven ? `${found}; its validation proves the target` : found,
    ok: isProven || best.perSecond >= limitRps,
  };
}

/** Memory of all placements loaded at once, each with its largest batch, against the target and the machine. */
function judgeMemory(
  placements: readonly MeasuredPlacement[],
  hardware: Pick<Hardware, "memoryBytes" | "container">,
  limitBytes: number,
): Judged {
  const hasBytes = usableBytes(hardware);
  const takes = placements.map(({ memory, sweep, configuration }) => {
    const rows = Math.min(sweep.at(-1)?.rows ?? 1, configuration.maxRows ?? Number.POSITIVE_INFINITY);
    return memory === null ? null : memory.baseBytes + rows * memory.bytesPerRow;
  });
  const known = takes.filter((bytes) => bytes !== null);
  const measured = Math.ceil(known.reduce((sum, bytes) => sum + bytes, 0));
  const found = `${measured} bytes by ${known.length} of ${placements.length} placements; the runner has ${hasBytes}`;
  if (measured > Math.min(limitBytes, hasBytes)) return { measured, found, ok: false };
  return { measured, found, ok: known.length === placements.length ? true : null };
}

/** Whether its latest validation passed and included such a requirement. */
function hasPassed(validated: Placement["validated"], isIt: (requirement: Requirement) => boolean): boolean {
  return validated?.verdict === "pass" && validated.requirements.some(isIt);
}

/** Formats a number with three significant digits, without an exponent. */
function toText(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** Checks the thread count: only ONNX Runtime on the CPU uses threads, at most one per core of its runner. */
export function checkThreads(
  { threads }: ServingConfiguration,
  backend: Backend,
  capabilities: Capabilities | null,
  prefix = "#",
): FieldError[] {
  const refuse = (message: string) => [{ pointer: `${prefix}/threads`, message }];
  if (threads === 1) return [];
  if (backend !== "ort-cpu") return refuse(`must be 1: ${backend} does not compute with threads`);
  const cores = capabilities?.hardware.cpu.logicalCores ?? 1;
  return threads <= cores ? [] : refuse(`must be at most ${cores}, the runner's logical cores`);
}
