import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";

const folder = join(import.meta.dirname, "../../test-artifacts/screenshots");

const WIDTHS_PX = [1280, 390];
const SCHEMES = ["light", "dark"] as const;

/**
 * With `KEEP_SCREENSHOTS=1`, keeps the whole open page as `test-artifacts/screenshots/<name>-<scheme>-<width>.png`, in
 * light and dark, on a desk and on a phone. Size and scheme of the page are afterwards what they were before.
 */
export async function keepScreenshots(page: Page, name: string): Promise<void> {
  if (process.env.KEEP_SCREENSHOTS !== "1") return;
  await mkdir(folder, { recursive: true });
  const size = page.viewportSize();
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  for (const width of WIDTHS_PX) {
    await page.setViewportSize({ width, height: size?.height ?? 900 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await settle(page);
      const path = join(folder, `${name}-${colorScheme}-${width}.png`);
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
  }
  await page.emulateMedia({ colorScheme: isDark ? "dark" : "light" });
  if (size !== null) await page.setViewportSize(size);
  await settle(page);
}

/** Until type is there, what was resized has been drawn, and no part is being read. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(drawFrames);
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  await page.evaluate(drawFrames);
}

// This runs in the page: it may use nothing from outside itself.

async function drawFrames(): Promise<void> {
  await document.fonts.ready;
  // Effects run after the first frame, and what they change is in the one after the next.
  for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
}
