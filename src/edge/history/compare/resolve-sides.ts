import { type Baseline, parseSide, type ResolvedSide, type Side } from "../../../protocol/history/comparison.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { SeriesSelector } from "../../../protocol/history/series.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import type { ProjectEnv } from "../../config.ts";
import { findBaseline } from "../../store/history/baseline-store.ts";
import { openProject } from "../../store/database.ts";
import { ALL_TIME, type Span } from "../../store/history/rollup-store.ts";
import { seriesIdsOfRun } from "../../store/history/point-store.ts";
import { selectSeries, seriesIdOf, type StoredSeries } from "../../store/history/series-store.ts";
import { type Dimension, pairKeyOf } from "./pair-series.ts";

/** A side with its baseline looked up. */
export interface MeantSide extends Omit<Side, "baseline"> {
  readonly name: "a" | "b";
  readonly text: string;
  readonly baseline: ResolvedSide["baseline"];
  /** Dimensions that its series have. */
  readonly selector: SeriesSelector;
  readonly span: Span;
}

/** Meaning of a side's text; a name without a baseline is a label. */
export async function readSide(
  env: ProjectEnv,
  name: "a" | "b",
  text: string,
  shared: SeriesSelector,
): Promise<MeantSide> {
  const read = parseSide(text);
  if ("wrong" in read) throw invalidRequest([{ pointer: `query/${name}`, message: read.wrong }]);
  const { baseline, ...own } = read.side;
  const pinned = baseline === undefined ? null : await findBaseline(openProject(env), baseline);
  const side = { ...(baseline === undefined ? {} : (pinned ?? { label: baseline })), ...own } as Side &
    Partial<Baseline>;
  // A run and a revision have their labels already.
  const knowsLabel = side.run !== undefined || side.revision !== undefined;
  const { series: _, label: sharedLabel, ...dimensions } = shared;
  return {
    ...own,
    ...(side.run === undefined ? {} : { run: side.run }),
    ...(side.label === undefined ? {} : { label: side.label }),
    ...(side.window === undefined ? {} : { window: side.window }),
    name,
    text,
    baseline: baseline === undefined ? null : { name: baseline, source: pinned === null ? "label" : "pinned" },
    selector: {
      ...dimensions,
      ...pinned?.selection,
      label: side.label ?? (knowsLabel ? undefined : sharedLabel),
      fingerprint: side.device ?? pinned?.selection?.fingerprint ?? shared.fingerprint,
    },
    span: {
      fromMs: side.window?.from === undefined ? 0 : Date.parse(side.window.from),
      toMs: side.window?.to === undefined ? ALL_TIME.toMs : Date.parse(side.window.to),
    },
  };
}

/** Dimensions of the key in which the two sides differ: series are paired without them. */
export function differingDimensions(a: MeantSide, b: MeantSide): Dimension[] {
  const all: Dimension[] = ["label", "fingerprint"];
  return all.filter((dimension) => a.selector[dimension] !== b.selector[dimension]);
}

/**
 * The series of both sides. Where series are named for all, or one side has too many to compare, counterparts are
 * looked up by their keys.
 */
export async function findSides(
  env: ProjectEnv,
  a: MeantSide,
  b: MeantSide,
  named: readonly string[] | undefined,
): Promise<{ a: StoredSeries[]; b: StoredSeries[] }> {
  const differing = differingDimensions(a, b);
  const db = openProject(env);
  const anchors = named === undefined ? null : await selectSeries(db, { series: [...named] }, LIMITS.queriedSeries);
  const find = (side: MeantSide, others: readonly StoredSeries[] | null) =>
    others === null ? findOwn(env, side) : findAlike(env, side, others, differing);
  const [ofA, ofB] = await Promise.all([find(a, anchors), find(b, anchors)]);
  const fits = (found: readonly StoredSeries[]) => found.length <= LIMITS.queriedSeries;
  if (fits(ofA) && fits(ofB)) return { a: ofA, b: ofB };
  const [wide, narrow, others] = fits(ofB) ? [a, b, ofB] : [b, a, ofA];
  const isNamed = differing.every((dimension) => wide.selector[dimension] !== undefined);
  if (!fits(others) || !isNamed || wide.run !== undefined) throw tooMany(fits(others) ? wide : narrow);
  const alike = await findAlike(env, wide, others, differing);
  return fits(ofB) ? { a: alike, b: ofB } : { a: ofA, b: alike };
}

function tooMany({ name }: MeantSide) {
  const message = `has more than ${LIMITS.queriedSeries} series: narrow it by subject, metric, label or configuration`;
  return invalidRequest([{ pointer: `query/${name}`, message }]);
}

/** Reads one series more than the limit, which shows that the list is cut. */
async function findOwn(env: ProjectEnv, side: MeantSide): Promise<StoredSeries[]> {
  const ofSide = side.series === undefined ? undefined : [side.series];
  const series = side.run === undefined ? ofSide : await seriesIdsOfRun(env, side.run, LIMITS.queriedSeries);
  const found = await selectSeries(openProject(env), { ...side.selector, series }, LIMITS.queriedSeries);
  return side.series === undefined ? found : found.filter(({ id }) => id === side.series);
}

/** The side's series that equal the others except where the sides differ. */
async function findAlike(
  env: ProjectEnv,
  side: MeantSide,
  others: readonly StoredSeries[],
  differing: readonly Dimension[],
): Promise<StoredSeries[]> {
  if (side.run !== undefined || side.series !== undefined) {
    const keys = new Set(others.map((one) => pairKeyOf(one, differing)));
    return (await findOwn(env, side)).filter((one) => keys.has(pairKeyOf(one, differing)));
  }
  const db = openProject(env);
  const { label, fingerprint } = side.selector;
  const [device] = fingerprint === undefined ? [] : await selectSeries(db, { fingerprint }, 1);
  if (fingerprint !== undefined && device === undefined) return [];
  const ids = others.map(async (other) => {
    const hardware = device === undefined ? {} : { fingerprint: device.fingerprint, software: device.software };
    const key = { ...other, ...(label === undefined ? {} : { label }), ...hardware };
    return (await seriesIdOf(key, env.project)).id;
  });
  return selectSeries(db, { ...side.selector, series: [...new Set(await Promise.all(ids))] }, LIMITS.queriedSeries);
}
