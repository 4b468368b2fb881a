import type { Browser } from "playwright-core";
import type { Contender } from "../contest.ts";
import { measurePan, readOutline } from "./measure-pan.ts";
import type { PanCase } from "./panned-points.ts";

/** Address of the page, and its series. */
export interface PageOfSeries {
  readonly url: string;
  readonly key: string;
  readonly seriesId: string;
}

/** The page itself with every point of a series, panned by its own pointer events. */
export function panOurs(browser: Browser, { url, key, seriesId }: PageOfSeries): Contender<PanCase> {
  return async ({ points: { timesS }, share }) => {
    const context = await browser.newContext({ baseURL: url, viewport: { width: 1_280, height: 900 } });
    const page = await context.newPage();
    const [first, last] = [timesS[0]!, timesS.at(-1)!];
    const fromS = first + ((last - first) * (1 - share)) / 2;
    const span = [fromS, fromS + (last - first) * share].map((atS) => new Date(1_000 * atS).toISOString()).join("/");
    const hash = new URLSearchParams({ key, view: "history", series: seriesId, span });
    await page.goto(`/#${hash.toString()}`);
    const plot = page.getByRole("application", { name: /^Every point of / });
    await plot.waitFor({ timeout: 120_000 });
    await plot.scrollIntoViewIfNeeded();
    await plot.evaluate((frame, inSight) => {
      const over = frame.querySelector<HTMLElement>(".u-over")!;
      const { left, top, width } = over.getBoundingClientRect();
      const fire = (type: string, clientX: number) =>
        over.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, clientX, clientY: top + 40 }));
      // A synthetic pointer cannot be captured.
      frame.setPointerCapture = () => undefined;
      fire("pointerdown", left);
      // Dragging by the plot's width moves by the visible span.
      const panTo = (place: number) => fire("pointermove", left + ((0.5 - place) * width * (1 - inSight)) / inSight);
      Object.assign(globalThis, { panTo });
    }, share);
    const output = await readOutline(page);
    return { opened: { output, adapter: null }, measure: () => measurePan(page), close: () => context.close() };
  };
}
