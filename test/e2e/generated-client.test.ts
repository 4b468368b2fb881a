import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { runIn, tsc } from "../client-package/pack-client.ts";
import { type LocalStack, placeModel } from "./local-stack.ts";
import { root } from "./run-npm.ts";
import { it, openTenant } from "./shared-stack.ts";

/** Long enough for any machine: what it takes is not the question here. */
const BUDGET_MS = 30_000;
const RUN_TOUR = `import { readFileSync } from "node:fs";
import { takeTour } from "./generated-tour.js";
const [edge, key, models] = process.argv.slice(2);
const digit = { ...JSON.parse(readFileSync(models + "/lenet5/example-request.json", "utf8")), budgetMs: ${BUDGET_MS} };
const policy = new Blob([readFileSync(models + "/cartpole/cartpole.onnx")], { type: "application/octet-stream" });
console.log(JSON.stringify(await takeTour(edge, key, digit, policy)));
`;

let stack: LocalStack;
let folder: string;
it.beforeAll(async ({ sharedStack }) => {
  folder = await mkdtemp(join(tmpdir(), "millrace-generated-"));
  stack = await openTenant(sharedStack);
  await placeModel(stack, "lenet5");
});
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

it("a client that another's generator makes of the running edge's document compiles, and takes the README's tour", async () => {
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await copyFile(join(root, "docs/examples/generated-tour.ts"), join(folder, "generated-tour.ts"));
  await writeFile(join(folder, "run-tour.js"), RUN_TOUR);

  await runIn(folder, join(root, "node_modules/.bin/oazapfts"), `${stack.baseUrl}/openapi.json`, "api.ts");
  const generated = await readFile(join(folder, "api.ts"), "utf8");
  expect(generated.match(/^export function /gm)?.length).toBeGreaterThan(150);
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--types", "", "--lib", "esnext,dom,dom.iterable"];
  const options = ["--module", "nodenext", "--target", "esnext", "--ignoreConfig"];
  await runIn(folder, tsc, ...strict, ...options, "generated-tour.ts");

  const asked = [stack.baseUrl, stack.adminKey, join(root, "models")];
  expect(JSON.parse(await runIn(folder, process.execPath, "run-tour.js", ...asked))).toEqual({
    health: "ok",
    events: 200,
    correct: true,
    problem: null,
    digit: 7,
    budgetMet: true,
    refused: ["budget-unattainable", true],
    uploads: [1, 200],
    percentiles: ["p50", "p99"],
  });
});
