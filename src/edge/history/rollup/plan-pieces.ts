import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type Piece,
  ROLLUP_STEPS_MS,
  type RollupStepMs,
  type Span,
} from "../../store/history/rollup-store.ts";

/** Earliest kept time of the rollups of each width, in Unix milliseconds; the wider ones are kept for ever. */
export interface KeptSince {
  readonly minutesMs: number;
  readonly hoursMs: number;
}

/**
 * The widest rollups that cover a span: four weeks and days in the middle, hours and minutes at its ends. An end within
 * a minute, or where finer rollups were deleted, is widened to the next whole one.
 */
export function planPieces(asked: Span, kept: KeptSince): { span: Span; pieces: Piece[] } {
  const fromMs = floorTo(
    asked.fromMs,
    finestFor((stepMs) => isKept(floorTo(asked.fromMs, stepMs), stepMs, kept)),
  );
  const toStepMs = finestFor((stepMs) => {
    // The last piece begins where the next wider one ends.
    const [widerMs = DAY_MS] = ROLLUP_STEPS_MS.filter((ms) => ms > stepMs).toReversed();
    return isKept(floorTo(asked.toMs, widerMs), stepMs, kept);
  });
  const span = { fromMs, toMs: ceilTo(asked.toMs, toStepMs) };
  return { span, pieces: split(span, ROLLUP_STEPS_MS) };
}

function finestFor(holds: (stepMs: RollupStepMs) => boolean): RollupStepMs {
  return ROLLUP_STEPS_MS.findLast(holds) ?? DAY_MS;
}

function isKept(atMs: number, stepMs: RollupStepMs, { minutesMs, hoursMs }: KeptSince): boolean {
  return stepMs >= DAY_MS || atMs >= (stepMs === HOUR_MS ? hoursMs : minutesMs);
}

function split(span: Span, [stepMs = MINUTE_MS, ...finer]: readonly RollupStepMs[]): Piece[] {
  if (span.fromMs >= span.toMs) return [];
  const [fromMs, toMs] = [ceilTo(span.fromMs, stepMs), floorTo(span.toMs, stepMs)];
  if (fromMs >= toMs) return split(span, finer);
  return [
    ...split({ fromMs: span.fromMs, toMs: fromMs }, finer),
    { span: { fromMs, toMs }, stepMs },
    ...split({ fromMs: toMs, toMs: span.toMs }, finer),
  ];
}

function floorTo(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}

function ceilTo(ms: number, stepMs: number): number {
  return Math.ceil(ms / stepMs) * stepMs;
}
