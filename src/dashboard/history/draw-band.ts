import type uPlot from "uplot";

/**
 * Fills what lies between two series of a plot as one shape. uPlot's own bands clip by their lines, which takes ten times
 * as long where these go up and down in every pixel. Where two entries are one bucket (`paired`) the shape goes by the
 * outer of their values, so that it never turns back on itself.
 */
export function drawBand(plot: uPlot, [upper, lower]: readonly [number, number], fill: string, paired: boolean): void {
  const { ctx, bbox, data, scales } = plot;
  const [times, highs, lows] = [data[0], data[upper]!, data[lower]!];
  const { min: fromS = 0, max: toS = 1 } = scales["x"] ?? {};
  const { min: low = 0, max: high = 1 } = scales["y"] ?? {};
  const [perS, per] = [bbox.width / (toS - fromS), bbox.height / (high - low)];
  const x = (place: number) => bbox.left + (times[place]! - fromS) * perS;
  const y = (value: number) => bbox.top + bbox.height - (value - low) * per;
  const other = (place: number) => (paired ? place ^ 1 : place);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.beginPath();
  for (let place = 0; place < times.length; place++) {
    ctx.lineTo(x(place), y(Math.max(highs[place]!, highs[other(place)] ?? highs[place]!)));
  }
  for (let place = times.length - 1; place >= 0; place--) {
    ctx.lineTo(x(place), y(Math.min(lows[place]!, lows[other(place)] ?? lows[place]!)));
  }
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.restore();
}
