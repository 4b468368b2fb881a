import type { KnownChange } from "./generate-series.ts";

/** Report of a detector on a series of this many points. */
export interface Report {
  /** Index of the first value that it assigns to the new regime. */
  readonly index: number;
  readonly seenPoints: number;
}

export interface Score {
  readonly known: number;
  readonly found: number;
  readonly alarms: number;
  readonly falseAlarms: number;
  readonly points: number;
  /** Number of points of the new regime at the first report, by change that was found. */
  readonly delays: readonly number[];
}

/** Places at most this far apart are the same. */
export const TOLERANCE_POINTS = 3;

/**
 * Scores a detector's reports while a series grew, in order of time. Successive reports within three points of each
 * other's place are one alarm. An alarm finds a change if one of its reports is within three points of it; it is false
 * if none is that near to any change.
 */
export function scoreAlarms(reports: readonly Report[], changes: readonly KnownChange[], points: number): Score {
  const alarms = joinReports(reports);
  const near = ({ index }: Report, change: KnownChange) =>
    index >= change.index - TOLERANCE_POINTS && index <= change.lastIndex + TOLERANCE_POINTS;
  const delays = changes.flatMap((change) => {
    const first = reports.find((report) => near(report, change));
    return first === undefined ? [] : [Math.max(1, first.seenPoints - change.index)];
  });
  const falseAlarms = alarms.filter((alarm) => !alarm.some((report) => changes.some((change) => near(report, change))));
  return {
    known: changes.length,
    found: delays.length,
    alarms: alarms.length,
    falseAlarms: falseAlarms.length,
    points,
    delays,
  };
}

function joinReports(reports: readonly Report[]): readonly (readonly Report[])[] {
  const alarms: Report[][] = [];
  for (const report of reports) {
    const same = alarms.find((alarm) => alarm.some(({ index }) => Math.abs(index - report.index) <= TOLERANCE_POINTS));
    if (same === undefined) alarms.push([report]);
    else same.push(report);
  }
  return alarms;
}

export function addScores(scores: readonly Score[]): Score {
  const sum = (of: (score: Score) => number) => scores.reduce((total, score) => total + of(score), 0);
  return {
    known: sum(({ known }) => known),
    found: sum(({ found }) => found),
    alarms: sum(({ alarms }) => alarms),
    falseAlarms: sum(({ falseAlarms }) => falseAlarms),
    points: sum(({ points }) => points),
    delays: scores.flatMap(({ delays }) => delays),
  };
}

/** 1 without any alarm. */
export function precision({ alarms, falseAlarms }: Score): number {
  return alarms === 0 ? 1 : 1 - falseAlarms / alarms;
}

export function recall({ known, found }: Score): number {
  return found / known;
}

/** 2·found ÷ (2·found + false alarms + missed): the harmonic mean where every alarm finds one change. */
export function f1({ known, found, falseAlarms }: Score): number {
  return (2 * found) / (found + known + falseAlarms);
}
