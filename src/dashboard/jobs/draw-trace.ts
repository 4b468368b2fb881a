import type { PlotTheme } from "../plots/plot-theme.ts";
import { type LaidSpan, type LaidTrace, tickStretch, type TraceStretch } from "./lay-out-trace.ts";

const AXIS_PX = 22;
const NAME_PX = 20;
const ROW_PX = 20;
const GAP_PX = 10;
const TICK_PX = 110;
/** A span is drawn as wide as this at least, and named from a width that holds some letters on. */
const LEAST_PX = 1;
const NAMED_PX = 30;
const COLOURS = ["p50", "p95", "p99", "busy", "good", "warn"];

/** Height in pixels that all lanes of a trace take. */
export function heightOf({ lanes }: LaidTrace): number {
  return lanes.reduce((height, { rows }) => height + NAME_PX + rows * ROW_PX + GAP_PX, AXIS_PX);
}

/** The span at a place of the drawing; the one that begins last if several overlap there. */
export function findSpan(
  { lanes }: LaidTrace,
  shown: TraceStretch,
  width: number,
  { x, y }: { readonly x: number; readonly y: number },
): LaidSpan | null {
  const usOf = (px: number) => shown.startUs + (px / width) * (shown.endUs - shown.startUs);
  let top = AXIS_PX;
  for (const { rows, spans } of lanes) {
    const depth = Math.floor((y - top - NAME_PX) / ROW_PX);
    top += NAME_PX + rows * ROW_PX + GAP_PX;
    if (y >= top) continue;
    const [fromUs, toUs] = [usOf(x - LEAST_PX), usOf(x + LEAST_PX)];
    return spans.findLast((span) => span.depth === depth && span.startUs <= toUs && span.endUs >= fromUs) ?? null;
  }
  return null;
}

interface Drawing {
  readonly trace: LaidTrace;
  readonly shown: TraceStretch;
  readonly picked: LaidSpan | null;
  readonly width: number;
}

/** Draws the lanes over the stretch that is shown. */
export function drawTrace(context: CanvasRenderingContext2D, theme: PlotTheme, drawing: Drawing): void {
  const { trace, shown, width } = drawing;
  const xOf = (us: number) => ((us - shown.startUs) / (shown.endUs - shown.startUs)) * width;
  context.clearRect(0, 0, width, heightOf(trace));
  context.font = theme.font;
  context.textBaseline = "middle";
  drawAxis(context, theme, drawing, xOf);
  let top = AXIS_PX;
  for (const { name, rows, spans } of trace.lanes) {
    context.fillStyle = theme.colour("muted");
    context.fillText(name, 2, top + NAME_PX / 2);
    drawSpans(context, theme, drawing, { spans, rows, top: top + NAME_PX, xOf });
    top += NAME_PX + rows * ROW_PX + GAP_PX;
  }
}

function drawAxis(
  context: CanvasRenderingContext2D,
  { colour }: PlotTheme,
  { trace, shown, width }: Drawing,
  xOf: (us: number) => number,
): void {
  const ticks = tickStretch(shown, width / TICK_PX);
  // A tick that is alone is as good as a step.
  const [first = 0, second = 2 * first || 1e3] = ticks;
  const stepMs = (second - first) / 1e3;
  const digits = Math.max(0, Math.ceil(-Math.log10(stepMs) - 1e-9));
  for (const us of ticks) {
    const x = Math.round(xOf(us)) + 0.5;
    context.fillStyle = colour("line");
    context.fillRect(x, 0, 1, heightOf(trace));
    context.fillStyle = colour("muted");
    context.fillText(`${(us / 1e3).toFixed(digits)} ms`, x + 4, AXIS_PX / 2);
  }
}

interface LaneDrawing {
  readonly spans: readonly LaidSpan[];
  readonly rows: number;
  readonly top: number;
  readonly xOf: (us: number) => number;
}

function drawSpans(
  context: CanvasRenderingContext2D,
  { colour }: PlotTheme,
  { shown, picked, width }: Drawing,
  { spans, rows, top, xOf }: LaneDrawing,
): void {
  // Thousands of spans may share a pixel: of each row only what reaches beyond what is drawn is drawn.
  const drawnTo = Array.from({ length: rows }, () => Number.NEGATIVE_INFINITY);
  for (const span of spans) {
    if (span.endUs < shown.startUs || span.startUs > shown.endUs) continue;
    const left = Math.max(0, xOf(span.startUs));
    const right = Math.min(width, Math.max(xOf(span.endUs), left + LEAST_PX));
    if (right <= (drawnTo[span.depth] ?? 0) + LEAST_PX / 2 && span !== picked) continue;
    drawnTo[span.depth] = right;
    const y = top + span.depth * ROW_PX;
    context.fillStyle = colour(colourOf(span.name));
    context.fillRect(left, y, right - left, ROW_PX - 2);
    if (span === picked) {
      context.strokeStyle = colour("text");
      context.lineWidth = 2;
      context.strokeRect(left + 1, y + 1, Math.max(1, right - left - 2), ROW_PX - 4);
    }
    if (right - left < NAMED_PX) continue;
    context.save();
    context.beginPath();
    context.rect(left, y, right - left - 3, ROW_PX);
    context.clip();
    context.fillStyle = colour("surface");
    context.fillText(span.name, left + 5, y + ROW_PX / 2 - 1);
    context.restore();
  }
}

/** The same for every span of a name. */
function colourOf(name: string): string {
  let sum = 7;
  for (let place = 0; place < name.length; place++) sum = (sum * 31 + name.charCodeAt(place)) % 9_973;
  return COLOURS[sum % COLOURS.length] ?? "p50";
}
