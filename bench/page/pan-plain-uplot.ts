import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import type { Contender } from "../contest.ts";
import { measurePan, readOutline } from "./measure-pan.ts";
import { type PanCase, PLOT_HEIGHT_PX } from "./panned-points.ts";

const require = createRequire(import.meta.url);
const STYLE = require.resolve("uplot/dist/uPlot.min.css");
const SCRIPT = require.resolve("uplot/dist/uPlot.iife.min.js");

/** uPlot with all points and its own band, as in its documentation. */
export function panPlainUplot(browser: Browser, widthPx: number): Contender<PanCase> {
  return async ({ points, share }) => {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const page = await context.newPage();
    await page.goto("about:blank");
    await page.addStyleTag({ path: STYLE });
    await page.addScriptTag({ path: SCRIPT });
    await page.evaluate(
      ({ points: { timesS, percentiles }, share: inSight, size }) => {
        const first = timesS[0]!;
        const length = (timesS.at(-1)! - first) * inSight;
        const span = (place: number): [number, number] => {
          const from = first + place * (timesS.at(-1)! - first - length);
          return [from, from + length];
        };
        let shown = span(0.5);
        const frame = document.createElement("div");
        frame.dataset["panned"] = "";
        document.body.append(frame);
        // oxlint-disable-next-line no-explicit-any -- the script's global, whose types are of a module
        const Plot = (globalThis as any).uPlot;
        const line = (stroke: string, width: number) => ({ stroke, width, points: { show: false } });
        const plot = new Plot(
          {
            ...size,
            legend: { show: false },
            cursor: { drag: { x: false, y: false } },
            scales: {
              x: { range: () => shown },
              y: { range: (_: unknown, _low: number, high: number) => [0, high * 1.15] },
            },
            bands: [{ series: [3, 1], fill: "#0b7a9126" }],
            series: [{}, line("#0b7a91", 1.5), line("#b4690e", 1), line("#b0305f", 1)],
          },
          [timesS, ...percentiles].map((column) => Float64Array.from(column)),
          frame,
        );
        const panTo = (place: number) => {
          shown = span(place);
          plot.setScale("x", { min: shown[0], max: shown[1] });
        };
        Object.assign(globalThis, { panTo });
      },
      { points, share, size: { width: widthPx, height: PLOT_HEIGHT_PX } },
    );
    const output = await readOutline(page);
    return { opened: { output, adapter: null }, measure: () => measurePan(page), close: () => context.close() };
  };
}
