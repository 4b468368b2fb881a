import type uPlot from "uplot";
import type { MarkTone, PlotMarks } from "./plot-marks.ts";
import { readPlotTheme } from "./plot-theme.ts";

const COLOURS: Record<MarkTone, string> = { worse: "bad", better: "good" };
const RING_PX = 5;
const TRIANGLE_PX = 5;
const LABEL_GAP_PX = 8;

/** Draws the marks over the lines of a plot: never by colour alone. */
export function drawMarks(plot: uPlot, { levels, changes, spikes, hardware }: PlotMarks): void {
  const { ctx, bbox } = plot;
  const { colour, font } = readPlotTheme(plot.root);
  const scale = devicePixelRatio;
  const x = (atS: number) => plot.valToPos(atS, "x", true);
  const y = (value: number) => plot.valToPos(value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = font.replace(/^\d+px/, `${11 * scale}px`);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";

  for (const { atS, text } of hardware) {
    ctx.strokeStyle = colour("busy");
    ctx.lineWidth = 1.5 * scale;
    line(ctx, [x(atS), bbox.top], [x(atS), bbox.top + bbox.height], [4 * scale, 4 * scale]);
    label(plot, text, x(atS), bbox.top + bbox.height - 10 * scale, colour("busy"));
  }
  for (const { kind, tone, fromS, toS, from, to } of levels) {
    ctx.strokeStyle = colour(kind === "before" ? "muted" : COLOURS[tone]);
    ctx.lineWidth = 2.5 * scale;
    line(ctx, [x(fromS), y(from)], [x(toS), y(to)], kind === "before" ? [7 * scale, 4 * scale] : []);
  }
  let freeFrom = 0;
  for (const { atS, tone, isUp, text } of changes) {
    const left = x(atS);
    ctx.strokeStyle = colour(COLOURS[tone]);
    ctx.lineWidth = scale;
    line(ctx, [left, bbox.top], [left, bbox.top + bbox.height], [scale, 3 * scale]);
    const top = bbox.top + 9 * scale;
    triangle(ctx, left, top, TRIANGLE_PX * scale, isUp, colour(COLOURS[tone]));
    if (left < freeFrom) continue;
    freeFrom = label(plot, text, left + TRIANGLE_PX * scale, top, colour(COLOURS[tone])) + LABEL_GAP_PX * scale;
  }
  ctx.setLineDash([]);
  ctx.strokeStyle = colour("warn");
  ctx.lineWidth = 2 * scale;
  for (const { atS, value } of spikes) {
    ctx.beginPath();
    ctx.arc(x(atS), y(value), RING_PX * scale, 0, 2 * Math.PI);
    ctx.stroke();
  }
  ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, from: [number, number], to: [number, number], dash: number[]): void {
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

function triangle(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  size: number,
  isUp: boolean,
  fill: string,
): void {
  const tip = isUp ? -size : size;
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.moveTo(x, y + tip);
  ctx.lineTo(x - size, y - tip);
  ctx.lineTo(x + size, y - tip);
  ctx.fill();
}

/** Words right of a place, or left of it where there is no room; gives where they end. */
function label(plot: uPlot, text: string, x: number, y: number, fill: string): number {
  const { ctx, bbox } = plot;
  const gap = 4 * devicePixelRatio;
  const { width } = ctx.measureText(text);
  const isLeft = x + gap + width > bbox.left + bbox.width;
  const start = isLeft ? x - 4 * gap - width : x + gap;
  ctx.fillStyle = readPlotTheme(plot.root).colour("surface");
  ctx.globalAlpha = 0.8;
  ctx.fillRect(start - gap / 2, y - 7 * devicePixelRatio, width + gap, 14 * devicePixelRatio);
  ctx.globalAlpha = 1;
  ctx.fillStyle = fill;
  ctx.fillText(text, start, y);
  return isLeft ? x + gap : start + width;
}
