import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadReport } from "../../src/cli/load/load-report.ts";
import { EDGE_RUNNER_ID } from "../../src/protocol/models/edge-place.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { ProblemError, PROBLEMS } from "../../src/protocol/wire/problem.ts";
import type { Job } from "../../src/protocol/jobs/job.ts";
import { type LocalStack, placeModel, STACK_PING_MS, startLocalStack, waitFor, waitForJob } from "./local-stack.ts";
import { root } from "./run-npm.ts";

/**
 * A budget that is predicted to be met where the machine stood still, too, and ends before a silent runner counts as
 * offline.
 */
const ATTAINABLE_MS = STACK_PING_MS;
/** No pause of the machine uses it up. */
const AMPLE_MS = 30_000;
const OBSERVATION = { data: [[0.01, -0.02, 0.03, 0.04]] };
const LONG_BENCHMARK = {
  kind: "benchmark",
  kernel: "gemm",
  shape: { m: 256, n: 256, k: 256 },
  timeoutMs: 600_000,
} as const;
/** Long enough on a software GPU to be interrupted, unless this process stands still meanwhile. */
const ITERATIONS = 200;

describe("a stack that loses its parts", () => {
  let stack: LocalStack;

  beforeAll(async () => {
    stack = await startLocalStack();
    await placeModel(stack, "cartpole");
  });
  afterAll(() => stack.stop());

  /** Of the runner, since the edge could compute it by itself. */
  const infer = (budgetMs: number, runnerId = stack.runnerId) =>
    stack.client.call(endpoints.infer, {
      body: { model: "cartpole", budgetMs, runnerId, inputs: { observation: OBSERVATION } },
    });

  /** One that is in its measurements. */
  async function startBenchmark(label: string): Promise<Job> {
    for (let iterations = ITERATIONS; ; iterations *= 4) {
      const body = { ...LONG_BENCHMARK, iterations, label: `${label}-${iterations}` };
      const { id } = await stack.client.call(endpoints.createJob, { body });
      const seen = await waitFor("the benchmark to be in its measurements", async () => {
        const job = await stack.client.call(endpoints.getJob, { params: { id } });
        return job.endedAt !== null || job.progress?.phase === "measure" ? job : undefined;
      });
      if (seen.endedAt === null) return seen;
    }
  }

  /** The job ended well, and the history has one point of it in every series. */
  async function expectOneStoredResult({ id, spec: { label } }: Job): Promise<void> {
    const job = await waitForJob(stack, id, ["succeeded", "failed", "cancelled"]);
    expect(job).toMatchObject({ state: "succeeded", problem: null, result: { correctness: { correct: true } } });
    const { items } = await stack.client.call(endpoints.listSeries, { query: { subject: "gemm", limit: 200 } });
    const own = items.filter((series) => series.label === label);
    expect(own.map(({ metric }) => metric).toSorted()).toContain("wallMs");
    expect(own.map(({ points }) => points)).toEqual(own.map(() => 1));
  }

  const load = (...options: string[]) =>
    spawn(process.execPath, ["src/cli/main.ts", "load", "--edge", stack.baseUrl, ...options], {
      cwd: root,
      env: { ...process.env, MILLRACE_KEY: stack.adminKey },
      stdio: ["ignore", "pipe", "pipe"],
    });

  it("bears a load from the command line, which reports at Ctrl-C what was sent", async () => {
    const countPoints = async () => {
      const { items } = await stack.client.call(endpoints.listSeries, { query: { subject: "cartpole@1", limit: 200 } });
      return items.reduce((sum, { points }) => sum + points, 0);
    };
    const before = await countPoints();
    const child = load("--model", "cartpole", "--budget", "30000", "--rate", "5", "--duration", "600", "--json");
    const ended = Promise.all([readText(child.stdout), readText(child.stderr), once(child, "close")]);
    await waitFor("requests in the history", async () => ((await countPoints()) > before ? true : undefined));
    child.kill("SIGINT");
    const [stdout, stderr, [code]] = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const report = JSON.parse(stdout) as LoadReport;
    expect(report.results).toEqual({ ok: report.requests });
    expect(report.latencyMs?.max).toBeLessThanOrEqual(30_000);
    // Of the plan no more counts than what it came to.
    expect(report.durationMs).toBeLessThan(600_000);
    expect(report.goodputPerSecond).toBeCloseTo((1e3 * report.requests) / report.durationMs);
  });

  it.each([
    ["nobody", "nobody"],
    ["cartpole@7", "There is no version 7 of cartpole."],
  ])("puts no load on %s, and says why", async (model, reason) => {
    const child = load("--model", model);
    const [stderr, [code]] = await Promise.all([readText(child.stderr), once(child, "close")]);
    expect(code).toBe(PROBLEMS["not-found"].exitCode);
    expect(stderr).toMatch(/^millrace: .+\n$/);
    expect(stderr).toContain(reason);
  });

  const expectNextAnswer = () => waitFor("the next inference", async () => (await infer(5_000)).outputs.logits);

  it("does the work of a killed device process again, and tells so in the result", async () => {
    const job = await startBenchmark("device-killed");
    for (const pid of await stack.devicePids()) process.kill(pid, "SIGKILL");
    await expectOneStoredResult(job);
    const { attempt, result } = await waitForJob(stack, job.id, ["succeeded"]);
    expect({ attempt, result }).toMatchObject({ attempt: 1, result: { faults: [{ code: "device-lost" }] } });
    await expectNextAnswer();
  });

  it("runs a job again whose runner was killed", async () => {
    const job = await startBenchmark("runner-killed");
    process.kill(stack.runnerPid(), "SIGKILL");
    await expectOneStoredResult(job);
    expect((await waitForJob(stack, job.id, ["succeeded"])).attempt).toBe(2);
    await expectNextAnswer();
  });

  it("loses nothing when the edge is stopped and started in mid-job", async () => {
    const job = await startBenchmark("edge-restarted");
    const waiting = await stack.client.call(endpoints.createJob, {
      body: { ...LONG_BENCHMARK, iterations: 5, label: "waited" },
    });
    await stack.stopEdge();
    await stack.startEdge();
    await expectOneStoredResult(job);
    await expectOneStoredResult(waiting);
    await expectNextAnswer();
  });

  it("answers at the deadline while the runner is stopped, and again when it goes on", async () => {
    const pid = stack.runnerPid();
    const byRunner = await infer(AMPLE_MS);
    process.kill(pid, "SIGSTOP");
    try {
      const refused = await infer(ATTAINABLE_MS).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ProblemError);
      expect((refused as ProblemError).problem.code).toBe("budget-exceeded");
      // What the edge computes by itself goes on, and is the same.
      const byEdge = await infer(AMPLE_MS, EDGE_RUNNER_ID);
      expect(byEdge.placement).toMatchObject({ backend: "edge-wasm", variant: "fp32" });
      const [wanted, found] = [byRunner, byEdge].map(({ outputs }) => outputs.logits?.data as number[]);
      wanted!.forEach((value, i) => expect(found![i]).toBeCloseTo(value, 5));
      await waitFor("the silent runner to be offline", async () => {
        const runner = await stack.client.call(endpoints.getRunner, { params: { id: stack.runnerId } });
        return runner.state === "offline" ? true : undefined;
      });
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await expectNextAnswer();
  });

  it("gives the work of a stopped runner to another", async () => {
    const another = await stack.addRunner();
    const pids = { [stack.runnerId]: stack.runnerPid(), [another.id]: another.pid() };
    // On a processor of either: the edge could compute it by itself.
    const ask = async () => {
      const inputs = { observation: OBSERVATION };
      const body = { model: "cartpole", budgetMs: 5_000, backend: "ort-cpu", inputs } as const;
      return (await stack.client.call(endpoints.infer, { body })).placement.runnerId;
    };
    await waitFor("cartpole to be placed on both", async () => {
      const { items } = await stack.client.call(endpoints.listPlacements, { params: { model: "cartpole" } });
      return items.some(({ runnerId, state }) => runnerId === another.id && state === "eligible") ? true : undefined;
    });
    const chosen = await waitFor("an answer of either", ask);
    process.kill(pids[chosen]!, "SIGSTOP");
    try {
      let inTurn = 0;
      await waitFor("all to be answered by the other", async () => {
        // A stopped runner answers nothing, so whoever answers is the other.
        inTurn = (await ask().catch(() => null)) === null ? 0 : inTurn + 1;
        return inTurn >= 20 ? true : undefined;
      });
    } finally {
      process.kill(pids[chosen]!, "SIGCONT");
    }
    const back = await waitFor("the runner to answer again", () => infer(AMPLE_MS, chosen));
    expect(back.placement.runnerId).toBe(chosen);
  });

  it("refuses at once a budget that nothing measured would meet, and says what would", async () => {
    // A runner that is not back yet is refused for that.
    const problem = await waitFor("a refusal that names a budget", async () => {
      const refused: unknown = await infer(0.1).catch((error: unknown) => error);
      return refused instanceof ProblemError && refused.problem.fits ? refused.problem : undefined;
    });
    expect(problem.code).toBe("budget-unattainable");
    expect(problem.errors?.[0]?.pointer).toBe("#/budgetMs");
    const fits = problem.fits?.budgetMs ?? 0;
    expect(fits).toBeGreaterThan(0.1);
    expect((await infer(fits + AMPLE_MS)).prediction.latencyMs).toBeLessThanOrEqual(fits + AMPLE_MS);
  });
});
