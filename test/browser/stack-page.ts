import type { BrowserContextOptions, Page } from "playwright-core";
import { type LocalStack, startLocalStack } from "../e2e/local-stack.ts";
import { launchChromium } from "./chromium.ts";
import { openWatchedPage, type WatchedPage } from "./watched-page.ts";

export type ViewOptions = BrowserContextOptions & { readonly key?: string };

/** A local stack with its runner, and a browser that has one page of it open at a time. */
export interface StackPage {
  readonly stack: LocalStack;
  /** Opens a page of a session of its own, which is nowhere yet. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** Opens it at a fragment such as `view=jobs`, by the admin's key or another, and waits until it is live. */
  openView(fragment: string, options?: ViewOptions): Promise<Page>;
  /**
   * What the open page complained of, and whom it called; nothing is right. A request that was refused with one of these
   * states is told by the browser, too.
   */
  findings(refused?: readonly number[]): string[];
  closePage(): Promise<void>;
  stop(): Promise<void>;
}

export async function startStackPage(): Promise<StackPage> {
  const [stack, browser] = await Promise.all([startLocalStack(), launchChromium()]);
  let watched: WatchedPage | null = null;
  const openPage = async (options?: BrowserContextOptions) => {
    watched = await openWatchedPage(browser, stack.baseUrl, options);
    return watched.page;
  };
  return {
    stack,
    openPage,
    openView: async (fragment, { key = stack.adminKey, ...options } = {}) => {
      const page = await openPage(options);
      await page.goto(`/#key=${key}&${fragment}`);
      await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
      return page;
    },
    findings: (refused = []) => {
      const isExpected = (text: string) => refused.some((status) => text.includes(`status of ${status} `));
      const { complaints = [], strangers = [] } = watched ?? {};
      return [...complaints.filter((text) => !isExpected(text)), ...strangers];
    },
    closePage: async () => watched?.close(),
    stop: async () => {
      await browser.close();
      await stack.stop();
    },
  };
}
