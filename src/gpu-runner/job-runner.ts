import type { Logger } from "pino";
import type { JobResult, JobSpec } from "../protocol/jobs/job.ts";
import type { JobOutcome, Lease, Offer } from "../protocol/link.ts";
import { LIMITS } from "../protocol/wire/limits.ts";
import { createProblem, ProblemError, toProblem } from "../protocol/wire/problem.ts";
import type { JobArtifacts } from "./link/artifacts.ts";
import { type SpanScope, traced } from "../telemetry/span.ts";
import type { LinkChannel } from "./link/link-channel.ts";
import type { RunnerState } from "./watch/describe-runner.ts";
import type { SpanExport } from "./host/span-export.ts";
import { throttleProgress } from "./devices/progress.ts";
import type { Watch } from "./watch/watch.ts";
import type { WorkloadContext } from "./kinds/kind.ts";
import { runJob } from "./kinds/registry.ts";

interface RunningJob {
  readonly lease: Lease;
  readonly abort: AbortController;
}

type Shared = Pick<
  WorkloadContext,
  | "hardware"
  | "fleet"
  | "models"
  | "probe"
  | "edgeProbe"
  | "openEdge"
  | "residency"
  | "rooflines"
  | "tunings"
  | "backends"
  | "userKernels"
> & {
  readonly openArtifacts: (lease: Lease, signal: AbortSignal) => JobArtifacts;
  readonly watch: Pick<Watch, "beside" | "noteResult">;
  readonly spans: Pick<SpanExport, "open">;
};

function keyOf({ jobId, epoch }: Lease): string {
  return `${jobId} ${epoch}`;
}

/** Jobs under lease: runs them, and sends each outcome until the edge has settled it. */
export class JobRunner {
  readonly #shared: Shared;
  readonly #channel: LinkChannel;
  readonly #logger: Logger;
  readonly #running = new Map<string, RunningJob>();
  readonly #unsettled = new Map<string, JobOutcome>();
  readonly #ended = new Map<JobSpec["kind"], { done: number; failed: number }>();
  #resend: ReturnType<typeof setInterval> | null = null;

  constructor(shared: Shared, channel: LinkChannel, logger: Logger) {
    this.#shared = shared;
    this.#channel = channel;
    this.#logger = logger;
  }

  /** Leases to renew: those whose jobs run here or have an unsettled outcome. */
  leases(): Lease[] {
    return [...this.#running.values(), ...this.#unsettled.values()].map(({ lease }) => lease);
  }

  /** Resends unsettled outcomes now and at this interval: the connection is new. */
  connected(resendMs: number): void {
    if (this.#resend !== null) clearInterval(this.#resend);
    this.#resend = setInterval(() => this.#sendUnsettled(), resendMs);
    this.#sendUnsettled();
  }

  /** Whether its job runs here, or has an unsettled outcome. */
  holds(lease: Lease): boolean {
    return this.#running.has(keyOf(lease)) || this.#unsettled.has(keyOf(lease));
  }

  /** Accepts a job, unless it is here already (an offer may be repeated). */
  accept(offer: Offer): void {
    if (this.holds(offer.lease)) return;
    const key = keyOf(offer.lease);
    const job = { lease: offer.lease, abort: new AbortController() };
    this.#running.set(key, job);
    const attributes = { "millrace.job": offer.lease.jobId, "millrace.attempt": offer.attempt };
    const details = { kind: "consumer", attributes, describe: describeOutcome } as const;
    const scope = this.#shared.spans.open(offer.traceparent);
    void traced(scope, "lease", details, (within) => this.#run(offer, job, within)).then((outcome) => {
      this.#running.delete(key);
      this.#count(offer.spec.kind, outcome?.outcome.ok === true);
      if (outcome === null) return;
      this.#unsettled.set(key, outcome);
      this.#channel.send(outcome);
    });
  }

  /** Aborts a lease's job, whose result the edge no longer wants. */
  cancel(lease: Lease): void {
    this.#running.get(keyOf(lease))?.abort.abort();
    this.#unsettled.delete(keyOf(lease));
  }

  settled(lease: Lease): void {
    this.#unsettled.delete(keyOf(lease));
  }

  /** Gives the running jobs back, so that they are queued again at once. */
  stop(): void {
    if (this.#resend !== null) clearInterval(this.#resend);
    for (const { lease, abort } of this.#running.values()) {
      abort.abort();
      this.#giveBack(lease, {});
    }
    this.#running.clear();
  }

  /** Gives back a job that was offered here and not begun: another runner gets it, and it counts as no attempt. */
  decline(lease: Lease): void {
    this.#giveBack(lease, { declined: true });
  }

  #giveBack(lease: Lease, how: { readonly declined?: true }): void {
    const problem = createProblem("runner-lost", "The runner was stopped.");
    this.#channel.send({ type: "jobOutcome", lease, outcome: { ok: false, problem, ...how } });
  }

  /** Numbers of running jobs, and of those that ended since the start. */
  counts(): RunnerState["jobs"] {
    const ended = [...this.#ended].flatMap(([kind, { done, failed }]) => [
      { kind, ok: true, count: done },
      { kind, ok: false, count: failed },
    ]);
    return { running: this.#running.size, ended };
  }

  #count(kind: JobSpec["kind"], ok: boolean): void {
    const tally = this.#ended.get(kind) ?? { done: 0, failed: 0 };
    tally[ok ? "done" : "failed"]++;
    this.#ended.set(kind, tally);
  }

  #sendUnsettled(): void {
    for (const outcome of this.#unsettled.values()) this.#channel.send(outcome);
  }

  async #run(offer: Offer, { abort }: RunningJob, scope: SpanScope | null): Promise<JobOutcome | null> {
    const { lease, spec, model, program, environment, edge } = offer;
    const { watch, openArtifacts, spans: _, ...shared } = this.#shared;
    const startedAt = new Date().toISOString();
    const otherJobs = this.#running.size - 1;
    const context = {
      ...shared,
      model,
      program: program ?? null,
      environment: environment ?? null,
      edge: edge ?? null,
      artifacts: openArtifacts(lease, abort.signal),
      otherJobs,
      signal: abort.signal,
      onProgress: throttleProgress((progress) => this.#channel.send({ type: "jobProgress", lease, progress })),
      logger: this.#logger,
    };
    try {
      const done = await watch.beside(() =>
        traced(scope, spec.kind, {}, (within) => runJob(spec, { ...context, scope: within })),
      );
      watch.noteResult(offer, done);
      const { result, deviceKey, traceText = null, samplesText = null } = done;
      checkSize(result);
      const beside = {
        ...(traceText !== null && { trace: traceText }),
        ...(samplesText !== null && { samples: samplesText }),
      };
      return { type: "jobOutcome", lease, outcome: { ok: true, result, deviceKey, startedAt, ...beside } };
    } catch (error) {
      if (abort.signal.aborted) return null;
      const problem = toProblem(error);
      if (problem.code === "internal") this.#logger.error({ error, lease }, "job failed unexpectedly");
      return { type: "jobOutcome", lease, outcome: { ok: false, problem } };
    }
  }
}

/** Throws `payload-too-large` for a result that the edge could not keep: it would come again and again. */
function checkSize(result: JobResult): void {
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes <= LIMITS.jobResultBytes) return;
  const detail = `The result has ${bytes} bytes as JSON, and may have ${LIMITS.jobResultBytes}: ask for less of it.`;
  throw new ProblemError("payload-too-large", detail);
}

function describeOutcome(done: JobOutcome | null): { error?: string } {
  if (done === null) return { error: "cancelled" };
  return done.outcome.ok ? {} : { error: done.outcome.problem.code };
}
