import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type InstalledClient, packClient, runIn, tsc } from "../client-package/pack-client.ts";
import { TOUR } from "../client-package/tour.ts";
import { type LocalStack, placeModel, startLocalStack } from "../e2e/local-stack.ts";

const bin = join(import.meta.dirname, "node_modules/.bin");
const options = ["--module", "nodenext", "--target", "esnext", "--types", "", "--ignoreConfig"];

let installed: InstalledClient;
let stack: LocalStack;
beforeAll(async () => {
  installed = await packClient();
  await runIn(installed.folder, tsc, ...options, "client-tour.ts");
  stack = await startLocalStack();
  await placeModel(stack, "cartpole");
});
afterAll(async () => {
  await stack.stop();
  await installed.remove();
});

it.each([
  ["Deno", "deno", ["run", "--no-prompt", "--no-remote", "--allow-net=127.0.0.1"]],
  ["Bun", "bun", ["run"]],
])("%s takes the tour", async (_, program, before) => {
  const asked = [...before, "run-tour.js", stack.baseUrl, stack.adminKey];
  expect(JSON.parse(await runIn(installed.folder, join(bin, program), ...asked))).toEqual(TOUR);
});

it("publint finds nothing to say of the package", async () => {
  const folder = join(installed.folder, "node_modules/millrace");
  const told = await runIn(folder, join(bin, "publint"), "run", "--strict", "--pack", "false");
  expect(told).toContain("All good!");
});

it("the types are found wherever ES modules are", async () => {
  const told = await runIn(installed.folder, join(bin, "attw"), installed.tarball, "--profile", "esm-only");
  expect(told).toContain("🟢 (ESM)");
});
