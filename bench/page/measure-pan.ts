import type { Page } from "playwright-core";
import { LINE_COLOUR, OUTLINE_PLACES, ROUND_MS } from "./panned-points.ts";

/** Frames a second, and the 95th percentile of the gaps between two. */
export interface PanFigures {
  readonly "frames/s": number;
  readonly "p95 gap": number;
}

/** Pans to and fro with every animation frame of the page, by `globalThis.panTo(share)`, for one round. */
export async function measurePan(page: Page): Promise<Readonly<Record<string, number>>> {
  return page.evaluate(async (roundMs): Promise<PanFigures & Record<string, number>> => {
    const { panTo } = globalThis as unknown as { panTo: (share: number) => void };
    const beganMs = performance.now();
    const frames: number[] = [];
    await new Promise<void>((resolve) => {
      const draw = () => {
        frames.push(performance.now());
        panTo(0.5 + 0.5 * Math.sin(frames.length / 20));
        if (performance.now() - beganMs < roundMs) requestAnimationFrame(draw);
        else resolve();
      };
      requestAnimationFrame(draw);
    });
    const gaps = frames.slice(1).map((at, place) => at - frames[place]!);
    const rising = gaps.toSorted((a, b) => a - b);
    const sumMs = gaps.reduce((sum, gap) => sum + gap, 0);
    return { "frames/s": (1_000 * gaps.length) / sumMs, "p95 gap": rising[Math.floor(0.95 * rising.length)]! };
  }, ROUND_MS);
}

/** Height of the highest line at places along the plot, as shares of the plot's height. */
export async function readOutline(page: Page): Promise<Float32Array> {
  const outline = await page.evaluate(
    async ({ places, colour }) => {
      const { panTo } = globalThis as unknown as { panTo: (share: number) => void };
      panTo(0.5);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const canvas = document.querySelector<HTMLCanvasElement>("[data-panned] canvas, .every-point canvas")!;
      const over = canvas.parentElement!.querySelector<HTMLElement>(".u-over")!;
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true })!;
      copy.drawImage(canvas, 0, 0);
      const { data, width } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const isLine = (x: number, y: number) =>
        colour.every((value, channel) => Math.abs(data[4 * (y * width + x) + channel]! - value) < 48);
      const [left, top] = [over.offsetLeft, over.offsetTop];
      return Array.from({ length: places }, (_, place) => {
        // The highest within a few pixels, since two plots do not break the time at the same places.
        const x = Math.round(left + ((place + 0.5) / places) * over.clientWidth);
        for (let y = top; y < top + over.clientHeight; y++) {
          for (let near = x - 4; near <= x + 4; near++) {
            if (isLine(near, y)) return 1 - (y - top) / over.clientHeight;
          }
        }
        return 0;
      });
    },
    { places: OUTLINE_PLACES, colour: LINE_COLOUR },
  );
  return Float32Array.from(outline);
}
