import { mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { type LocalStack, placeModel } from "../local-stack.ts";
import { root } from "../run-npm.ts";
import { it, openTenant } from "../shared-stack.ts";
import { readBlocks, runBlocks, TESTED_WITHIN_MS } from "./run-document.ts";

/** What the tour's second block makes of a shell. The tour itself is run with it. */
const TOUR_SHELL = 'millrace() { npm run -s millrace -- "$@"; }';
/** What that script of npm runs; npm's own start would cost more than most of the guides' commands. */
const SCRIPT = "node src/cli/main.ts";
const SHELL = `millrace() { node_modules/.bin/${SCRIPT} "$@"; }`;

/** What each guide must have shown at its end, and that no test but its own would notice the lack of. */
const SHOWN: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  "first-runner.md": [/^online +second /m, /^offline +second /m],
  "first-model.md": [/^eligible +my-digits@1 fp32 /m, "low-rank-90", /^ +7 +\d/m],
  "budgets.md": ["exit code", '"code":"budget-unattainable"', "goodput"],
  "validating.md": [/verdict +PASS/, "exit code 1", '"name":"control-loop"', /verdict +FOUND/, /verdict +INFEASIBLE/],
  "gating-a-pull-request.md": ["1 regression beyond 5 %", "exit code 1: do not merge", "mk_"],
  "evaluating-policies.md": [/published +expert/, /^expert@1 /m, '"episodes"'],
  "writing-a-kernel.md": ["my-broken-scale.wgsl:", /exit code \d+[\s\S]*exit code \d+/, '"name":"textbook-gemm"'],
  "writing-an-environment.md": ['"name":"centre"', /published +centred/, /^centred@1 /m],
};

/** A folder that looks like the project, so that what guides write is not in the developer's own. */
let folder: string;
let stack: LocalStack;
it.beforeAll(async ({ sharedStack }) => {
  folder = await mkdtemp(join(tmpdir(), "millrace-guides-"));
  for (const name of ["package.json", "src", "models", "kernels", "node_modules"]) {
    await symlink(join(root, name), join(folder, name));
  }
  stack = await openTenant(sharedStack);
  for (const model of ["lenet5", "cartpole"]) await placeModel(stack, model);
}, TESTED_WITHIN_MS);
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

it("runs each guide that has something to run, in the tour's shell", async () => {
  const guides = await readdir(join(root, "docs/guides"));
  const blocks = await Promise.all(guides.map((guide) => readBlocks(`docs/guides/${guide}`)));
  const run = guides.filter((_, index) => (blocks[index]?.length ?? 0) > 0);
  expect(run.toSorted()).toEqual(Object.keys(SHOWN).toSorted());
  expect((await readBlocks("docs/tour.md"))[1]).toContain(TOUR_SHELL);
  expect(JSON.parse(await readFile(join(root, "package.json"), "utf8"))).toMatchObject({
    scripts: { millrace: SCRIPT },
  });
});

it("runs the blocks of all documents: others have none", async () => {
  const files = await readdir(join(root, "docs"), { recursive: true });
  const others = files.filter((file) => file.endsWith(".md") && file !== "tour.md" && !file.startsWith("guides"));
  expect(others.length).toBeGreaterThan(5);
  for (const file of others) {
    const text = await readFile(join(root, "docs", file), "utf8");
    expect(text, `${file} has blocks that nobody runs`).not.toMatch(/^```(sh|bash|shell)$/m);
  }
});

it.for(Object.entries(SHOWN))(
  "%s does what it says, as written",
  { timeout: TESTED_WITHIN_MS },
  async ([guide, shown]) => {
    const { code, stdout, stderr } = await runBlocks([SHELL, ...(await readBlocks(`docs/guides/${guide}`))], folder, {
      EDGE: stack.baseUrl,
      KEY: stack.adminKey,
      MILLRACE_EDGE: stack.baseUrl,
      MILLRACE_KEY: stack.adminKey,
      XDG_CONFIG_HOME: join(folder, "config"),
    });
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    // A refusal that is asked for has another code; all else would go by unseen where `curl` asks.
    expect(stdout).not.toMatch(/"status":(4(?!22)|5)\d\d/);
    for (const text of shown) expect(`${stdout}\n${stderr}`).toMatch(text);
  },
);
