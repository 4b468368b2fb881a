import type { KnownChange } from "./generate-series.ts";

/** What a detector says of a series that has so many points. */
export interface Report {
  /** Of the first value that it takes for the new regime. */
  readonly index: number;
  readonly seenPoints: number;
}

export interface Score {
  readonly known: number;
  readonly found: number;
  readonly alarms: number;
  readonly falseAlarms: number;
  readonly points: number;
  /** Points of the new regime that were there when it was first told, by change that was found. */
  readonly delays: readonly number[];
}

/** Places that are at most so far apart are the same. */
export const TOLERANCE_POINTS = 3;

/**
 * Counts what a detector reported while a series grew, reports in order of time. Reports within three points of each
 * other's place, one after the other, are one alarm. A change is found by an alarm of which a report lies within three
 * points of it; an alarm is false if none of its reports is that near to any change.
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

/** 1 where nothing was said. */
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
