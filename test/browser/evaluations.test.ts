import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, vi } from "vitest";
import { openReplay } from "../../src/dashboard/evaluations/replay.ts";
import { formatNumber } from "../../src/words/numbers.ts";
import type { Sendable } from "../../src/client/call-options.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { Job, JobInput } from "../../src/protocol/jobs/job.ts";
import type { LocalStack } from "../e2e/local-stack.ts";
import { keepScreenshots } from "./keep-screenshot.ts";
import { seriousFindings } from "./serious-findings.ts";
import { it, openTenantPage, type StackPage, type ViewOptions } from "./stack-page.ts";

/** Jobs that take seconds, on a machine that may have much else to do. */
const ENDED_MS = 240_000;
const PATIENT = { timeout: 600_000 };
/** The page shows the same whatever trains, and a software GPU takes seconds to compile for it. */
const ON_CPU = { backend: "cpu-simd" } as const;

let site: StackPage;
let stack: LocalStack;

it.beforeAll(async ({ shared }) => {
  site = await openTenantPage(shared, { lend: true });
  stack = site.stack;
});

afterAll(() => site?.stop());

afterEach(() => site?.closePage());

async function submit(body: Sendable<JobInput>): Promise<string> {
  return (await stack.client.call(endpoints.createJob, { body })).id;
}

/** Runs a job to its good end. */
async function finish(body: Sendable<JobInput>): Promise<Job> {
  const params = { id: await submit(body) };
  const readEnded = async () => {
    const job = await stack.client.call(endpoints.getJob, { params });
    if (job.endedAt === null) throw new Error(`the job is ${job.state}`);
    return job;
  };
  const job = await vi.waitFor(readEnded, { timeout: ENDED_MS, interval: 250 });
  expect(job.problem).toBeNull();
  return job;
}

const openView = (hash = "", options: ViewOptions = {}) => site.openView(`view=evaluations${hash}`, options);

const findings = () => site.findings();

describe("before anything was evaluated", () => {
  it("the view tells how to begin", async () => {
    const page = await openView();
    await page.getByText("No policy has been evaluated yet.").waitFor();
    await page.getByRole("button", { name: "Trainings" }).click();
    await page.getByText("No policy has been trained yet.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

describe("an evaluation", PATIENT, () => {
  let recorded: Job;
  beforeAll(async () => {
    const content = new Uint8Array(await readFile(new URL("../../models/cartpole/cartpole.onnx", import.meta.url)));
    const rawBody = { mediaType: "application/octet-stream", content };
    await stack.client.call(endpoints.uploadModel, { query: { name: "cartpole" }, rawBody });
    const evaluation = { kind: "evaluation", environment: "cartpole", policies: ["cartpole"], episodes: 20 } as const;
    await finish({ ...evaluation, seed: 2 });
    recorded = await finish({ ...evaluation, record: 2 });
  });

  const replayOf = (page: Page) => page.getByRole("group", { name: "Replay" });
  const step = (page: Page) => replayOf(page).getByRole("slider", { name: "Step" });
  /** What the table says that a variable is now. */
  const told = (page: Page, name: string) =>
    replayOf(page)
      .getByRole("row")
      .filter({ has: page.getByRole("rowheader", { name, exact: true }) })
      .getByRole("cell")
      .first();

  it("shows its scores with intervals, its profile, and what it is held against", async () => {
    const page = await openView();
    const scores = page.getByRole("region", { name: "Scores in cartpole" });
    await scores.getByRole("row", { name: /^cartpole@1 .*\[[\d.,]+, [\d.,]+\]/ }).waitFor();
    await scores.getByRole("img", { name: /performance profile/ }).waitFor();
    const compared = page.getByRole("region", { name: "Compared" });
    await compared.getByText("not paired: the seeds differ", { exact: false }).waitFor();
    await compared.getByText(/\[.+\] of the time, ties half/).waitFor();
    expect(findings()).toEqual([]);
  });

  it("replays an episode state by state, by keys alone, and a link leads to the same state", async () => {
    const response = await stack.client.send(endpoints.getJobArtifact, { params: { id: recorded.id, name: "replay" } });
    const { episodes } = openReplay(new Uint8Array(await response.arrayBuffer()));
    expect(episodes.map(({ entrant, episode }) => [entrant, episode])).toEqual([
      [0, 0],
      [0, 1],
    ]);
    const page = await openView(`&run=${recorded.runId}`);
    await page.getByRole("img", { name: /^cartpole at step 0 of \d+$/ }).waitFor();
    const states = episodes[1]!.records;
    await page.getByLabel("Episode").selectOption({ label: "cartpole@1: episode 1" });
    await step(page).focus();
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("ArrowRight");
    await page.getByRole("img", { name: `cartpole at step 3 of ${states.length - 1}` }).waitFor();
    // Fields of the file: six of any replay, the action, then the state's own.
    expect(await told(page, "x").textContent()).toBe(formatNumber(states[3]![7]!));
    expect(await told(page, "angle").textContent()).toBe(formatNumber(states[3]![9]!));
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("replay=0.1.3");
    const pole = await page.locator(".scene .limb").getAttribute("points");
    await page.reload();
    await page.getByRole("img", { name: `cartpole at step 3 of ${states.length - 1}` }).waitFor();
    expect(await page.locator(".scene .limb").getAttribute("points")).toBe(pole);
    await step(page).focus();
    await page.keyboard.press("End");
    await expect.poll(() => told(page, "action").textContent()).toBe("–");
    await keepScreenshots(page, "evaluation");
    expect(findings()).toEqual([]);
  });

  it("plays by itself until it is paused", async () => {
    const page = await openView(`&run=${recorded.runId}`);
    await replayOf(page).getByLabel("Speed").selectOption("0.25×");
    await replayOf(page).getByRole("button", { name: "Play" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(async () => Number(await step(page).inputValue())).toBeGreaterThan(2);
    await replayOf(page).getByRole("button", { name: "Pause" }).press("Enter");
    // A step may still be drawn behind the key.
    const isAtHash = async () =>
      (await page.evaluate(() => location.hash)).endsWith(`replay=0.0.${await step(page).inputValue()}`);
    await expect.poll(isAtHash).toBe(true);
    const at = await step(page).inputValue();
    await replayOf(page).getByRole("button", { name: "−1 step" }).press("Enter");
    await expect.poll(() => step(page).inputValue()).toBe(String(Number(at) - 1));
    expect(findings()).toEqual([]);
  });

  it("without a recording is evaluated again with one, and the result comes by itself", async () => {
    const { items } = await stack.client.call(endpoints.listJobs, { query: { kind: "evaluation" } });
    const page = await openView(`&run=${items[1]?.runId}`);
    await page.getByText("No episode of this evaluation was recorded.").waitFor();
    const rows = page.getByRole("region", { name: "Evaluations of policies" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(1 + items.length);
    await page.getByRole("button", { name: "Evaluate again and record" }).press("Enter");
    await expect.poll(() => rows.count(), { timeout: ENDED_MS }).toBe(2 + items.length);
    await rows.nth(1).getByText("done").waitFor({ timeout: ENDED_MS });
    await rows.nth(1).getByRole("button", { name: "Show" }).click();
    await replayOf(page).waitFor();
    expect(findings()).toEqual([]);
  });

  it("is recorded by no key that may only read, and it says why", async () => {
    const { secret } = await stack.client.call(endpoints.createKey, { body: { name: "read", scopes: ["read"] } });
    const { items } = await stack.client.call(endpoints.listJobs, { query: { kind: "evaluation" } });
    const page = await openView(`&run=${items.at(-1)?.runId}`, { key: secret });
    await page.getByRole("button", { name: "Evaluate again and record" }).click();
    await page.getByText("This key may only read; a key with the submit scope can change this.").waitFor();
    const button = page.getByRole("button", { name: "Evaluate again and record" });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
  });

  it.each(["light", "dark"] as const)("keeps nobody out in %s, and fits a phone", async (colorScheme) => {
    const page = await openView(`&run=${recorded.runId}`, { colorScheme, viewport: { width: 390, height: 800 } });
    await page.getByRole("img", { name: /^cartpole at step 0/ }).waitFor();
    await page.getByRole("img", { name: /performance profile/ }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});

describe("a training", PATIENT, () => {
  const curveOf = (page: Page) => page.getByRole("img", { name: /^Returns of a training in / });
  const pointsOf = async (page: Page) =>
    Number(/over (\d+) points/.exec((await curveOf(page).getAttribute("aria-label")) ?? "")?.[1]);

  it("shows its curve with intervals as it grows, without a reload", async () => {
    const page = await openView("&part=trainings");
    await page.getByText("No policy has been trained yet.").waitFor();
    const algorithm = { name: "sep-cma-es" } as const;
    const id = await submit({ kind: "training", environment: "cartpole", algorithm, generations: 100_000, ...ON_CPU });
    await curveOf(page).waitFor({ timeout: ENDED_MS });
    await expect.poll(() => pointsOf(page), { timeout: ENDED_MS }).toBeGreaterThan(5);
    const before = await pointsOf(page);
    await expect.poll(() => pointsOf(page), { timeout: ENDED_MS }).toBeGreaterThan(before);
    await expect
      .poll(() => curveOf(page).getAttribute("aria-label"))
      .toMatch(/the latest on fresh episodes [\d.,]+ \[[\d.,]+, [\d.,]+\]$/);
    await page.getByText("Latest judgements as a table").click();
    await page.getByRole("columnheader", { name: "Fresh episodes" }).waitFor();
    await stack.client.call(endpoints.cancelJob, { params: { id } });
    await page
      .getByRole("region", { name: "Trainings" })
      .getByText("cancelled", { exact: true })
      .waitFor({ timeout: ENDED_MS });
    expect(findings()).toEqual([]);
  });

  it("that has ended shows what it found, what it published, and its archive as a map", async () => {
    const short = { generations: 5, evaluation: { everyGenerations: 5, episodes: 20 } };
    const algorithm = { name: "sep-cma-es" } as const;
    const publish = { model: "balancer" };
    const learned = await finish({
      kind: "training",
      environment: "cartpole",
      algorithm,
      publish,
      ...short,
      ...ON_CPU,
    });
    const searched = await finish({
      kind: "training",
      environment: "arm",
      network: { kind: "direct" },
      algorithm: { name: "map-elites" },
      episodes: 1,
      ...short,
    });
    const page = await openView(`&part=trainings&job=${learned.id}`);
    const panel = page.getByRole("region", { name: "Learning cartpole" });
    await panel.getByText(/\[.+\] over 20 episodes that chose nothing/).waitFor();
    await panel.getByText(/^policy \(/).waitFor();
    expect(await panel.getByRole("link", { name: "balancer" }).getAttribute("href")).toBe(
      "/#view=models&model=balancer",
    );
    expect(await pointsOf(page)).toBe(5);
    await keepScreenshots(page, "training");
    await panel.getByLabel("Along").selectOption("steps");
    await page.getByRole("row", { name: /^arm / }).getByRole("button").press("Enter");
    await page.getByRole("region", { name: "Learning arm" }).waitFor();
    await page.getByRole("application", { name: /^Fitness of \d+ elites of arm/ }).waitFor();
    expect(await page.evaluate(() => location.hash)).toContain(`job=${searched.id}`);
    expect(await page.getByRole("link", { name: "This archive among all" }).getAttribute("href")).toMatch(
      /view=archives&archive=arc_/,
    );
    expect(await seriousFindings(page)).toEqual([]);
    expect(findings()).toEqual([]);
  });
});
