import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LinkChannel } from "../../../src/gpu-runner/link/link-channel.ts";
import { JobRunner } from "../../../src/gpu-runner/job-runner.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import { type JobOutcome, type Offer, parseText, RunnerMessage } from "../../../src/protocol/link.ts";
import { RunSamples } from "../../../src/protocol/history/run.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { KernelInput } from "../../../src/protocol/kernels/submitted-kernel.ts";
import { competitor } from "../../edge/stack/kernel-samples.ts";
import { benchmarkResult, capabilities } from "../../edge/stack/samples.ts";
import { createGuarding } from "./guarding-fleet.ts";

const RESEND_MS = 1_000;
const wallMs = Float64Array.of(1, 2, 3);
type SoundOutcome = Extract<JobOutcome["outcome"], { ok: true }>;
const silent = { error: () => undefined, info: () => undefined };
const offer = (epoch = 1): Offer => ({
  type: "offer",
  lease: { jobId: createId("job"), epoch },
  attempt: epoch,
  spec: BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad", tuned: false }),
  model: null,
});

/** A job runner whose benchmarks end when the test says so, on a socket that the test reads. */
function scriptJobs({ userKernels = true } = {}) {
  const sent: RunnerMessage[] = [];
  const started: {
    finish: () => void;
    fail: (error: Error) => void;
    progress: (phase: string) => void;
    signal: AbortSignal;
  }[] = [];
  const channel = new LinkChannel();
  const socket = {
    readyState: WebSocket.OPEN,
    send: (text: string) => {
      const parsed = parseText(RunnerMessage, text);
      if (!parsed.ok) throw new Error(parsed.reason);
      sent.push(parsed.message);
    },
  };
  channel.attach(socket as unknown as WebSocket);
  const host = {
    device: capabilities.devices[1],
    kernelDigests: {},
    benchmark: (
      _spec: unknown,
      { onProgress, signal }: { onProgress: (progress: object) => void; signal: AbortSignal },
    ) =>
      new Promise((resolve, reject) => {
        const { kind: _, environment: __, ...measured } = benchmarkResult();
        signal.addEventListener("abort", () => reject(new ProblemError("cancelled", "aborted")));
        started.push({
          finish: () => resolve({ ...measured, traceText: "{}", samples: { wallMs, gpuMs: null } }),
          fail: reject,
          progress: (phase) => onProgress({ phase, done: 0, total: 1 }),
          signal,
        });
      }),
  };
  const rooflines = { ensure: async () => ({ roofline: null, missing: "not measured" }) };
  const fleet = { withKernel: () => ({ host }), ...createGuarding() };
  const watch = { beside: (job: () => unknown) => job(), noteResult: () => undefined };
  const openArtifacts = () => ({});
  const spans = { open: () => null };
  const shared = { fleet, models: {}, probe: {}, openArtifacts, rooflines, userKernels, watch, spans };
  const jobs = new JobRunner(shared as never, channel, silent as never);
  const outcomes = () => sent.filter((message): message is JobOutcome => message.type === "jobOutcome");
  return { jobs, channel, socket, sent, started, outcomes };
}

beforeEach(() => {
  // Progress is thinned by the clock, which stands still.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a job under lease", () => {
  it("runs once however often it is offered, and its outcome goes out until it is settled", async () => {
    const { jobs, started, outcomes } = scriptJobs();
    jobs.connected(RESEND_MS);
    const taken = offer();
    for (let i = 0; i < 3; i++) jobs.accept(taken);
    expect(started).toHaveLength(1);
    expect(jobs.leases()).toEqual([taken.lease]);
    started[0]?.finish();
    await vi.waitFor(() => expect(outcomes()).toHaveLength(1), 10_000);
    expect(outcomes()[0]).toMatchObject({ lease: taken.lease, outcome: { ok: true, result: { kernel: "triad" } } });
    // Known roofs go into the result, the trace and the samples beside it.
    const [first] = outcomes().map(({ outcome }) => outcome as SoundOutcome);
    const { result, trace, samples } = first as SoundOutcome;
    expect(result).toMatchObject({ roofline: { note: "not measured" } });
    expect(result).not.toHaveProperty("samples");
    expect(trace).toBe("{}");
    expect(RunSamples.parse(JSON.parse(samples ?? ""))).toEqual({
      measurements: [{ subject: "triad", metric: "wallMs", unit: "ms", clock: "runner-wall", values: [...wallMs] }],
    });
    jobs.accept(taken);
    expect(started).toHaveLength(1);
    vi.advanceTimersByTime(2 * RESEND_MS);
    expect(outcomes()).toHaveLength(3);
    expect(new Set(outcomes().map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(jobs.leases()).toEqual([taken.lease]);
    jobs.settled(taken.lease);
    vi.advanceTimersByTime(2 * RESEND_MS);
    expect(outcomes()).toHaveLength(3);
    expect(jobs.leases()).toEqual([]);
  });

  it("that ended without a connection is reported by the next one", async () => {
    const { jobs, channel, socket, started, outcomes } = scriptJobs();
    const taken = offer();
    jobs.accept(taken);
    channel.detach();
    started[0]?.finish();
    await vi.waitFor(() => expect(jobs.leases()).toEqual([taken.lease]), 10_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes()).toEqual([]);
    channel.attach(socket as unknown as WebSocket);
    jobs.connected(RESEND_MS);
    expect(outcomes()).toHaveLength(1);
  });

  it("that fails is reported with its problem, an unknown one as internal", async () => {
    const { jobs, started, outcomes } = scriptJobs();
    jobs.accept(offer());
    jobs.accept(offer());
    started[0]?.fail(new ProblemError("kernel-incorrect", "It is wrong."));
    started[1]?.fail(new Error("a secret path"));
    await vi.waitFor(() => expect(outcomes()).toHaveLength(2), 10_000);
    expect(outcomes().map(({ outcome }) => (outcome.ok ? null : outcome.problem.code))).toEqual([
      "kernel-incorrect",
      "internal",
    ]);
    expect(JSON.stringify(outcomes())).not.toContain("secret");
  });

  it("with a user's kernel is refused where those are off, whatever the edge believes", async () => {
    const { jobs, started, outcomes } = scriptJobs({ userKernels: false });
    const program = { id: createId("kernel"), definition: KernelInput.parse(competitor), reference: null };
    jobs.accept({ ...offer(), program });
    await vi.waitFor(() => expect(outcomes()).toHaveLength(1), 10_000);
    expect(outcomes()).toMatchObject([{ outcome: { ok: false, problem: { code: "unknown-kernel" } } }]);
    expect(started).toEqual([]);
  });

  it("that is cancelled stops and reports nothing", async () => {
    const { jobs, started, outcomes } = scriptJobs();
    const taken = offer();
    jobs.accept(taken);
    jobs.cancel({ ...taken.lease, epoch: 2 });
    expect(started[0]?.signal.aborted).toBe(false);
    jobs.cancel(taken.lease);
    expect(started[0]?.signal.aborted).toBe(true);
    await vi.waitFor(() => expect(jobs.leases()).toEqual([]), 10_000);
    expect(outcomes()).toEqual([]);
  });

  it("under another epoch is another job", () => {
    const { jobs, started } = scriptJobs();
    const taken = offer();
    jobs.accept(taken);
    jobs.accept({ ...taken, lease: { ...taken.lease, epoch: 2 } });
    expect(started).toHaveLength(2);
  });

  it("is given back when the runner stops", async () => {
    const { jobs, started, outcomes } = scriptJobs();
    jobs.accept(offer());
    jobs.stop();
    expect(started[0]?.signal.aborted).toBe(true);
    expect(outcomes()).toMatchObject([{ outcome: { ok: false, problem: { code: "runner-lost" } } }]);
    expect(jobs.leases()).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes()).toHaveLength(1);
  });
});

describe("progress", () => {
  it("is thinned within a phase and sent at once for a new one", () => {
    const { jobs, started, sent } = scriptJobs();
    jobs.accept(offer());
    for (const phase of ["load", "load", "load", "measure", "measure"]) started[0]?.progress(phase);
    expect(sent.map((message) => (message.type === "jobProgress" ? message.progress.phase : message.type))).toEqual([
      "load",
      "measure",
    ]);
  });

  it("is thinned of phases that follow each other without end", () => {
    const { jobs, started, sent } = scriptJobs();
    jobs.accept(offer());
    for (let index = 0; index < 1_000; index++) started[0]?.progress(`phase ${index}`);
    expect(sent.length).toBeGreaterThanOrEqual(50);
    expect(sent.length).toBeLessThan(200);
  });
});
