/** A history as a page draws it: instants in seconds, and percentiles in the order of their names. */
export interface PannedPoints {
  readonly timesS: readonly number[];
  readonly percentiles: readonly (readonly number[])[];
}

/** Points to pan, and the visible share of them. */
export interface PanCase {
  readonly points: PannedPoints;
  /** As a share of all of it. */
  readonly share: number;
}

/** Height of a plot's frame, in CSS pixels, wherever it is drawn. */
export const PLOT_HEIGHT_PX = 260;
/** Places along a plot at which outlines are compared. */
export const OUTLINE_PLACES = 64;
/** Duration of one round of panning. */
export const ROUND_MS = 3_000;
/** Colour of the highest percentile's line, in the page's light theme. */
export const LINE_COLOUR = [176, 48, 95] as const;
