import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** The policy that the pages must work under, stricter than the edge's own. */
export const STRICT_POLICY = "default-src 'self'";

/** How long anything is waited for, on a machine that may have much else to do. */
const PATIENCE_MS = 120_000;

/** A page whose every complaint and request is kept. */
export interface WatchedPage {
  readonly page: Page;
  /** Console errors and warnings, uncaught exceptions, breaches of the policy. */
  readonly complaints: string[];
  /** URLs of requests to any other origin. */
  readonly strangers: string[];
  close(): Promise<void>;
}

/** Opens a page of its own session, with the strict policy put on every document. */
export async function openWatchedPage(
  browser: Browser,
  baseUrl: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: baseUrl,
    locale: "en-GB",
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  const strangers: string[] = [];
  await context.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "content-security-policy": STRICT_POLICY } });
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(baseUrl).origin) strangers.push(request.url());
  });
  return { page, complaints, strangers, close: () => context.close() };
}
