import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { launchChromium } from "../browser/chromium.ts";
import { bundleModule } from "../client-package/bundle-module.ts";
import { type InstalledClient, packClient, runIn, tsc } from "../client-package/pack-client.ts";
import { TOUR } from "../client-package/tour.ts";
import { type LocalStack, placeModel } from "./local-stack.ts";
import { it, openTenant } from "./shared-stack.ts";

/** Compressed: the tarball; a program with all of the API; one that wants nothing of the table of endpoints. */
const LIMITS_BYTES = { tarball: 220 * 1_024, whole: 84 * 1_024, retry: 40 * 1_024 };

let installed: InstalledClient;
beforeAll(async () => {
  installed = await packClient();
});
afterAll(() => installed.remove());

describe("the client's package", () => {
  it.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])("has types that hold for module %s, resolved by %s", async (module, moduleResolution) => {
    const options = ["--module", module, "--moduleResolution", moduleResolution, "--outDir", "compiled"];
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--types", ""];
    const sources = (await readdir(installed.folder)).filter((name) => name.endsWith(".ts"));
    expect(sources.length).toBeGreaterThan(3);
    await runIn(installed.folder, tsc, ...options, ...strict, "--target", "esnext", "--ignoreConfig", ...sources);
  });

  it("refuses in types what the edge would refuse", async () => {
    const wrong = `import { createClient, endpoints } from "millrace/client";
void createClient({ baseUrl: "" }).call(endpoints.getJob, { params: { id: 7 } });
`;
    await writeFile(join(installed.folder, "wrong.mts"), wrong);
    const options = ["--module", "nodenext", "--noEmit", "--strict", "--types", "", "--target", "esnext"];
    const compiling = runIn(installed.folder, tsc, ...options, "--ignoreConfig", "wrong.mts");
    await expect(compiling).rejects.toThrow("Type 'number' is not assignable to type 'string'");
  });

  it("names nothing of Node, and depends on two packages", async () => {
    const folder = join(installed.folder, "node_modules/millrace");
    const files = (await readdir(folder, { recursive: true })).filter((name) => /\.(js|d\.ts)$/.test(name));
    expect(files.length).toBeGreaterThan(100);
    const named = new Set<string>();
    for (const file of files) {
      const text = await readFile(join(folder, file), "utf8");
      for (const [, specifier = ""] of text.matchAll(/(?:\bfrom |\bimport\()"([^".][^"]*)"/g)) named.add(specifier);
      expect(text, file).not.toMatch(/\.meta\(/);
    }
    expect([...named].toSorted()).toEqual(["eventsource-parser", "zod"]);
  });

  it("is small, and a bundler leaves out what nobody imports", async () => {
    const sizeOf = async (source: string) => gzipSync(await bundleModule(installed.folder, source)).byteLength;
    const found = {
      tarball: (await readFile(installed.tarball)).byteLength,
      whole: await sizeOf('export * from "millrace/client";'),
      retry: await sizeOf('export { createClient, createRetry } from "millrace/client";'),
    };
    process.stderr.write(`client package, bytes: ${JSON.stringify(found)}\n`);
    for (const [part, limit] of Object.entries(LIMITS_BYTES)) {
      expect(found[part as keyof typeof found], part).toBeLessThanOrEqual(limit);
    }
  });
});

describe("the tour", () => {
  let stack: LocalStack;
  let program: string;
  it.beforeAll(async ({ sharedStack }) => {
    stack = await openTenant(sharedStack);
    await placeModel(stack, "cartpole");
    program = await bundleModule(installed.folder, 'export { takeTour } from "./client-tour.ts";');
  });
  afterAll(() => stack?.stop());

  it("is taken in Node", async () => {
    await runIn(
      installed.folder,
      tsc,
      "--module",
      "nodenext",
      "--target",
      "esnext",
      "--types",
      "",
      "--ignoreConfig",
      "client-tour.ts",
    );
    const printed = await runIn(installed.folder, process.execPath, "run-tour.js", stack.baseUrl, stack.adminKey);
    expect(JSON.parse(printed)).toEqual(TOUR);
  });

  it("is taken in a Worker", async () => {
    const source = `import { takeTour } from "./client-tour.ts";
export default { fetch: async (request) => Response.json(await takeTour(...(await request.json()))) };`;
    const script = await bundleModule(installed.folder, source);
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({ modules: true, script, compatibilityDate: "2026-10-20" }),
    );
    try {
      const body = JSON.stringify([stack.baseUrl, stack.adminKey]);
      const response = await miniflare.dispatchFetch("http://worker.test/", { method: "POST", body });
      expect(await response.json()).toEqual(TOUR);
    } finally {
      await miniflare.dispose();
    }
  });

  it("is taken in a browser", async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      // From the edge's own origin, since it lets no other one ask.
      await page.route(`${stack.baseUrl}/tour*`, (route) => {
        const isProgram = route.request().url().endsWith(".js");
        const contentType = isProgram ? "text/javascript" : "text/html";
        return route.fulfill({ contentType, body: isProgram ? program : "<!doctype html>" });
      });
      await page.goto(`${stack.baseUrl}/tour`);
      const found: unknown = await page.evaluate(
        `import("/tour.js").then(({ takeTour }) => takeTour(location.origin, ${JSON.stringify(stack.adminKey)}))`,
      );
      expect(found).toEqual(TOUR);
    } finally {
      await browser.close();
    }
  });
});
