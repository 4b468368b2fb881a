import type { Candidate } from "../../protocol/optimisation.ts";
import type { Miss } from "./judge-measurement.ts";

type Target = Miss["target"];

/** A number as people read it: three digits. */
function format(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });
}

const UNITS: Readonly<Record<Target, (value: number) => string>> = {
  latencyMs: (value) => `${format(value)} ms`,
  throughputPerS: (value) => `${format(value)}/s`,
  memoryBytes: (value) => `${format(value / 2 ** 20)} MiB`,
  minFidelity: (value) => `a fidelity of ${format(value)}`,
};

const NAMES: Readonly<Record<Target, string>> = {
  latencyMs: "latency",
  throughputPerS: "throughput",
  memoryBytes: "memory",
  minFidelity: "fidelity",
};

/**
 * What cannot be met here, what came nearest, and which targets that would meet: `misses` are those of the nearest,
 * the worst first.
 */
export function explainMiss(
  candidate: Candidate,
  misses: readonly Miss[],
  percentile: number,
  complete: boolean,
): string {
  const nameOf = (target: Target) => (target === "latencyMs" ? `p${format(percentile * 100)} latency` : NAMES[target]);
  const missed = misses.map(
    ({ target, wanted, found, factor }) =>
      `${nameOf(target)} is ${UNITS[target](found)} where ${UNITS[target](wanted)} is wanted (${format(factor)} times ${worse(target)})`,
  );
  const would = misses.map(({ target, found }) => `${target} ${UNITS[target](found)}`);
  const tried = complete ? "No configuration reaches every target" : "Nothing that was tried reaches every target";
  return `${tried}. Nearest is ${describeCandidate(candidate)}: ${missed.join("; ")}. It would meet ${would.join(" and ")}.`;
}

export function describeCandidate({ deviceKey, backend, variant, threads, maxRows, concurrency, axes }: Candidate) {
  const place = `${variant} by ${backend} on ${deviceKey}`;
  if (axes !== undefined) {
    const settings = Object.entries(axes).map(([name, value]) => `${name} ${value}`);
    return [place, ...settings, `batches of ${maxRows}`].join(", ");
  }
  return `${place}, ${threads} ${threads === 1 ? "thread" : "threads"}, batches up to ${maxRows}, ${concurrency} in flight`;
}

function worse(target: Target): string {
  if (target === "latencyMs") return "too slow";
  return target === "memoryBytes" ? "too much" : "too little";
}
