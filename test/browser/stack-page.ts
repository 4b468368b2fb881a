import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { LocalStack } from "../e2e/local-stack.ts";
import { it as withStack, openTenant } from "../e2e/shared-stack.ts";
import { launchChromium } from "./chromium.ts";
import { openWatchedPage, type WatchedPage } from "./watched-page.ts";

/** One stack with its runner and one browser: the files of a worker share them, one file at a time. */
interface Shared {
  readonly stack: LocalStack;
  readonly browser: Browser;
}

/** For `it.beforeAll(async ({ shared }) => …)` of a file. */
export const it = withStack.extend(
  "shared",
  { scope: "worker" },
  async ({ sharedStack: stack }, { onCleanup }): Promise<Shared> => {
    const browser = await launchChromium();
    onCleanup(() => browser.close());
    return { stack, browser };
  },
);

export interface ViewOptions extends BrowserContextOptions {
  readonly key?: string;
  /** Before the page goes anywhere: routes that answer in the edge's place. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** The page of one project, one page at a time. */
export interface StackPage {
  /** The shared one; its admin key and client are of the project. */
  readonly stack: LocalStack;
  /** Opens a page of a session of its own, which is nowhere yet. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** Opens it at a fragment such as `view=jobs`, by the admin's key or another, and waits until it is live. */
  openView(fragment: string, options?: ViewOptions): Promise<Page>;
  /**
   * Complaints of the open page, and origins that it called; none is right. A request that was refused with one of
   * these states is a complaint of the browser, too.
   */
  findings(refused?: readonly number[]): string[];
  closePage(): Promise<void>;
  /** Closes the page, and the project unless it is the operator's. */
  stop(): Promise<void>;
}

/** The page of the operator's project, which owns the runner. A file must leave the runner online and unshared. */
export function openOperatorPage({ stack, browser }: Shared): StackPage {
  return openProjectPage(stack, browser);
}

/** The page of a new and empty project; with `lend`, the stack's runner works for it until the page is stopped. */
export async function openTenantPage({ stack, browser }: Shared, wishes: { lend: boolean }): Promise<StackPage> {
  const tenant = await openTenant(stack, wishes);
  const page = openProjectPage(tenant, browser);
  return {
    ...page,
    stop: async () => {
      await page.stop();
      await tenant.stop();
    },
  };
}

function openProjectPage(stack: LocalStack, browser: Browser): StackPage {
  let watched: WatchedPage | null = null;
  const openPage = async (options?: BrowserContextOptions) => {
    watched = await openWatchedPage(browser, stack.baseUrl, options);
    return watched.page;
  };
  const closePage = async () => watched?.close();
  return {
    stack,
    openPage,
    openView: async (fragment, { key = stack.adminKey, prepare, ...options } = {}) => {
      const page = await openPage(options);
      await prepare?.(page);
      await page.goto(`/#key=${key}&${fragment}`);
      await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
      return page;
    },
    findings: (refused = []) => {
      const isExpected = (text: string) => refused.some((status) => text.includes(`status of ${status} `));
      const { complaints = [], strangers = [] } = watched ?? {};
      return [...complaints.filter((text) => !isExpected(text)), ...strangers];
    },
    closePage,
    stop: closePage,
  };
}
