import type { CompareQuery, ComparisonReply, ResolvedSide } from "../../../protocol/history/comparison.ts";
import { keyOf } from "../../../protocol/history/series.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import type { ProjectEnv } from "../../config.ts";
import { toInstantOrNull } from "../../clock.ts";
import { endTurn } from "../../turns.ts";
import type { StoredSeries } from "../../store/history/series-store.ts";
import { adjustVerdicts, compareSeries, shareRuns } from "./compare-series.ts";
import { type Observed, observeSeries } from "./observe-series.ts";
import { type Pairing, pairSeries } from "./pair-series.ts";
import { differingDimensions, findSides, type MeantSide, readSide } from "./resolve-sides.ts";

type Unpaired = ComparisonReply["unpaired"][number];

/** Compares two sides of the history, series by series. */
export async function compareSides(env: ProjectEnv, query: CompareQuery): Promise<ComparisonReply> {
  const { a: textA, b: textB, statistic, minimumEffect, confidence, ...shared } = query;
  const [a, b] = await Promise.all([readSide(env, "a", textA, shared), readSide(env, "b", textB, shared)]);
  const found = await findSides(env, a, b, shared.series);
  const pairing = pairOf(a, b, found);
  const inAll = found.a.length + found.b.length;
  const [ofA, ofB] = await Promise.all([
    observeSeries(env.DB, a, numbersOf(found.a, pairing.lonelyA), inAll),
    // A run's or revision's own measurements are reported even without a counterpart.
    observeSeries(env.DB, b, numbersOf(found.b, namesRuns(b) ? [] : pairing.lonelyB), inAll),
  ]);
  const unpaired = new Map<string, Unpaired>();
  const note = (side: "a" | "b", series: StoredSeries, reason: Unpaired["reason"]) => {
    const { fingerprint: _fingerprint, software: _software, ...key } = keyOf(series);
    unpaired.set(`${side} ${series.id}`, { side, seriesId: series.id, key, reason });
  };
  for (const series of pairing.lonelyA) note("a", series, "no-partner");
  for (const series of pairing.lonelyB)
    note("b", series, namesRuns(b) && !ofB.has(series.no) ? "no-runs" : "no-partner");
  const compared: ReturnType<typeof compareSeries>[] = [];
  for (const [one, other] of pairing.pairs) {
    const [seenA, seenB] = [ofA.get(one.no), ofB.get(other.no)];
    if (seenA === undefined || seenB === undefined) {
      note("a", one, seenA === undefined ? "no-runs" : "no-partner");
      note("b", other, seenB === undefined ? "no-runs" : "no-partner");
      continue;
    }
    const [observedA, observedB] = one.no === other.no ? shareRuns(seenA, seenB) : [seenA, seenB];
    if (isEmpty(observedA) || isEmpty(observedB)) {
      note("b", other, "same-runs");
      continue;
    }
    const asked = { statistic, minimumEffect, confidence };
    compared.push(compareSeries({ series: one, observed: observedA }, { series: other, observed: observedB }, asked));
    // A pair takes milliseconds, and there may be hundreds.
    await endTurn();
  }
  const pairs = adjustVerdicts(compared, confidence);
  // One series may have several partners: those with runs are preferred.
  for (const { a: one, b: other } of pairs) {
    unpaired.delete(`a ${one.seriesId}`);
    unpaired.delete(`b ${other.seriesId}`);
  }
  return {
    a: describe(a, found.a.length),
    b: describe(b, found.b.length),
    statistic,
    minimumEffect,
    confidence,
    pairs,
    unpaired: [...unpaired.values()],
    notes: notesOn(pairs, query),
  };
}

/** Two series named explicitly are a pair whatever their keys, if their quantities are comparable. */
function pairOf(a: MeantSide, b: MeantSide, found: { a: StoredSeries[]; b: StoredSeries[] }): Pairing {
  const [one, other] = [found.a[0], found.b[0]];
  const areNamed = a.series !== undefined && b.series !== undefined;
  if (!areNamed || one === undefined || other === undefined)
    return pairSeries(found.a, found.b, differingDimensions(a, b));
  if (one.unit !== other.unit || one.direction !== other.direction) {
    const message = `is in ${other.unit} where ${other.direction} is better, a in ${one.unit} where ${one.direction} is`;
    throw invalidRequest([{ pointer: "query/b", message }]);
  }
  return { pairs: [[one, other]], lonelyA: [], lonelyB: [] };
}

function numbersOf(series: readonly StoredSeries[], lonely: readonly StoredSeries[]): number[] {
  const without = new Set(lonely);
  return series.filter((one) => !without.has(one)).map(({ no }) => no);
}

function namesRuns({ run, revision }: MeantSide): boolean {
  return run !== undefined || revision !== undefined;
}

function isEmpty({ runs, merged }: Observed): boolean {
  return runs.length === 0 && merged === null;
}

function describe(
  { text, baseline, run, label, revision, window, last, selector }: MeantSide,
  series: number,
): ResolvedSide {
  return {
    text,
    baseline,
    run: run ?? null,
    label: selector.label ?? label ?? null,
    revision: revision ?? null,
    device: selector.fingerprint ?? null,
    from: toInstantOrNull(window?.from === undefined ? null : Date.parse(window.from)),
    to: toInstantOrNull(window?.to === undefined ? null : Date.parse(window.to)),
    last: last ?? null,
    series,
  };
}

function notesOn(pairs: ComparisonReply["pairs"], { confidence, statistic }: CompareQuery): string[] {
  const tested = pairs.filter(({ p }) => p !== null).length;
  const many = `${pairs.length} ${pairs.length === 1 ? "pair" : "pairs"} compared, ${tested} tested: at most ${Number((100 * (1 - confidence)).toPrecision(3))} % of what is called better or worse is expected to be chance (Benjamini and Hochberg).`;
  const floor = `A percentile comes from a sketch and is off by 0.5 % at most, a ratio of two by 1 %: nothing smaller is claimed.`;
  return [
    many,
    ...(statistic === "mean" ? [] : [floor]),
    ...(pairs.some(({ a, b }) => a.truncated || b.truncated) ? ["Only the latest runs of some series were read."] : []),
  ];
}
