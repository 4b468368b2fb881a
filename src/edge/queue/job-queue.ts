import { DurableObject } from "cloudflare:workers";
import type { FeedEvent } from "../../protocol/service/service-state.ts";
import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { Job, JobListQuery, JobProgress, JobSummary } from "../../protocol/jobs/job.ts";
import type { Lease } from "../../protocol/link.ts";
import type { CurvePoint } from "../../protocol/jobs/training.ts";
import type { LatestCalibration } from "../../protocol/models/model.ts";
import type { OwedVersion } from "../fleet/plan-runner.ts";
import { configOf, type Env, runnerLink } from "../config.ts";
import { openScope } from "../http/span-log.ts";
import { holdsFile } from "../kinds/registry.ts";
import { openDatabase } from "../store/database.ts";
import { migrateObject } from "../store/migrate-object.ts";
import type { ResolvedRule } from "../store/models/version-store.ts";
import { DEFAULT_QUOTAS } from "../store/quotas/default-quotas.ts";
import { readRunnerState } from "../store/project-store.ts";
import { recordQuarantine } from "../store/fleet/runner-store.ts";
import * as acceptance from "./accept-job.ts";
import { ringQueue } from "./dispatch-jobs.ts";
import { KeptResults } from "./keep-result.ts";
import * as machine from "./lease-machine.ts";
import { openTables, QUEUE_MIGRATIONS } from "./queue-tables.ts";
import type { QueueOutside, QueueParts } from "./queue-parts.ts";
import * as fleet from "./queue-runners.ts";
import type { JobCount, JobQueueRpc, KnownRunner, PassedOutcome, Submission, SubmitOutcome } from "./queue-rpc.ts";
import { cancelJob, cancelJobs, noteProgress, settleJob } from "./settle-job.ts";

/** Jobs from acceptance to their end, under leases that runners hold and renew. */
export class JobQueue extends DurableObject<Env> implements JobQueueRpc {
  readonly #parts: QueueParts;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { maxAttempts, calibrationIterations, intervals } = configOf(env);
    const { leaseMs, heartbeatMs } = intervals;
    migrateObject(ctx.storage, QUEUE_MIGRATIONS);
    const tables = openTables(ctx.storage.sql, () => Date.now());
    const settings = { maxAttempts, calibrationIterations, leaseMs, heartbeatMs };
    this.#parts = { ...tables, ...settings, outside: this.#createOutside() };
  }

  /** The bindings are read at each use: a test may replace them. */
  #createOutside(): QueueOutside {
    const { ctx } = this;
    return {
      now: () => Date.now(),
      transaction: (work) => ctx.storage.transactionSync(work),
      later: (work) => ctx.waitUntil(work),
      alarm: ctx.storage,
      linkOf: (runnerId) => runnerLink(this.env, runnerId),
      scopeOf: (context) => openScope(this.env, context, (work) => ctx.waitUntil(work)),
      readRunner: (runnerId) => readRunnerState(openDatabase(this.env.DB), runnerId),
      recordQuarantine: (runnerId, quarantine) => recordQuarantine(openDatabase(this.env.DB), runnerId, quarantine),
      results: new KeptResults(
        () => this.env,
        (project, modelVersionId, rule) => acceptance.calibrateEverywhere(this.#parts, project, modelVersionId, rule),
      ),
    };
  }

  async submit(submission: Submission): Promise<SubmitOutcome> {
    return acceptance.acceptJob(this.#parts, submission);
  }

  /** Job of an earlier request with this key, or the problem that the key was for another one; null for none. */
  findSubmitted(idempotencyKey: string, requestHash: string): SubmitOutcome | null {
    return acceptance.findSubmitted(this.#parts, idempotencyKey, requestHash);
  }

  async ensureCalibrations(runnerId: string, owed: readonly OwedVersion[]): Promise<void> {
    acceptance.ensureCalibrations(this.#parts, runnerId, owed);
  }

  async calibrateAnew(project: string, runnerId: string, modelVersionId: string): Promise<SubmitOutcome> {
    return acceptance.calibrateAnew(this.#parts, project, runnerId, modelVersionId);
  }

  async calibrateEverywhere(project: string, modelVersionId: string, rule: ResolvedRule): Promise<void> {
    acceptance.calibrateEverywhere(this.#parts, project, modelVersionId, rule);
  }

  /** The latest calibration of each of these versions on each runner, newest first. */
  latestCalibrations(project: string, modelVersionIds: string[]): LatestCalibration[] {
    return this.#parts.store.latestCalibrations(project, modelVersionIds);
  }

  /** Whether a runner holds a calibration of any of these versions. */
  isCalibrating(runnerId: string, modelVersionIds: string[]): boolean {
    return this.#parts.store.leased().some((job) => {
      const spec = job.runnerId === runnerId ? this.#parts.store.findJob(job.id)?.spec : undefined;
      return spec?.kind === "calibration" && modelVersionIds.includes(spec.modelVersionId);
    });
  }

  /**
   * Whether a runner holds a job that starts from this file: an entrant's, an archive's, a pool's, or the model to
   * compress.
   */
  isWorkingOn(runnerId: string, digest: string): boolean {
    return this.#parts.store.leased().some((job) => {
      const spec = job.runnerId === runnerId ? this.#parts.store.findJob(job.id)?.spec : undefined;
      return spec !== undefined && holdsFile(spec, digest);
    });
  }

  /** Id of a queued or running compression of the project that is measured on this file. */
  findMeasuredOn(project: string, dataDigest: string): string | null {
    return this.#parts.store.findMeasuredOn(project, dataDigest);
  }

  /** Project of the job that a runner holds under this very lease now; null where it holds none. */
  projectOfLease(runnerId: string, lease: Lease): string | null {
    const job = this.#parts.store.findRecord(lease.jobId);
    if (job === null || !machine.holdsLease(job, lease, runnerId)) return null;
    return this.#parts.store.projectOf(job.id);
  }

  /** A job of the project, without its result. */
  get(project: string, id: string): Job | null {
    return this.#isOf(project, id) ? this.#parts.store.findJob(id) : null;
  }

  /** The same with its result, as JSON in UTF-8: megabytes are not parsed on their way to the caller. */
  getText(project: string, id: string): Uint8Array<ArrayBuffer> | null {
    return this.#isOf(project, id) ? this.#parts.store.findBytes(id) : null;
  }

  /** Number of jobs by kind and state; for end states, all that ever reached them. */
  counts(): JobCount[] {
    return this.#parts.store.counts();
  }

  /** What counts towards the project's quotas here. */
  usage(project: string): { queuedJobs: number; eventStreams: number } {
    const { store, log } = this.#parts;
    return { queuedJobs: store.countQueuedOf(project, false), eventStreams: log.countStreams(project) };
  }

  /** Jobs that this release met and could not read, since this object started. */
  countUnreadable(): number {
    return this.#parts.store.unreadable;
  }

  /** Learning curve of a training so far; where attempts repeated a generation, the latest counts. */
  readCurve(project: string, id: string): CurvePoint[] {
    if (!this.#isOf(project, id)) return [];
    const points = this.#parts.store.eventsAfter(id, 0).flatMap(({ progress }) => progress?.point ?? []);
    const latest = new Map(points.map((point) => [point.generation, point]));
    return [...latest.values()].toSorted((a, b) => a.generation - b.generation);
  }

  /** Jobs of the project before `beforeId`, newest first. */
  list(
    project: string,
    query: JobListQuery,
    beforeId: string | null,
  ): { items: JobSummary[]; nextCursor: string | null } {
    return this.#parts.store.list(project, query, beforeId);
  }

  async cancel(project: string, id: string): Promise<Job | null> {
    return cancelJob(this.#parts, project, id);
  }

  async cancelAll(project: string): Promise<void> {
    await cancelJobs(this.#parts, project);
  }

  async runnerConnected(runner: Omit<KnownRunner, "online">, running: Lease[], helloAtMs: number): Promise<Lease[]> {
    // The link of an older release says nothing of jobs that are left.
    const jobsLeft = (runner as { readonly jobsLeft?: number | null }).jobsLeft ?? null;
    return fleet.connectRunner(this.#parts, { ...runner, jobsLeft }, running, helloAtMs);
  }

  runnerChanged(id: string, capabilities: Capabilities): void {
    fleet.changeRunner(this.#parts, id, capabilities);
  }

  async runnerDisconnected(id: string): Promise<void> {
    await fleet.disconnectRunner(this.#parts, id);
  }

  async runnerDraining(id: string, draining: boolean): Promise<void> {
    await fleet.drainRunner(this.#parts, id, draining);
  }

  async runnerShared(id: string, shared: boolean): Promise<void> {
    await fleet.shareRunner(this.#parts, id, shared);
  }

  async runnerFlapped(id: string): Promise<void> {
    await fleet.flapRunner(this.#parts, id);
  }

  async runnerRemoved(id: string): Promise<void> {
    await fleet.removeRunner(this.#parts, id);
  }

  async heartbeat(runnerId: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }> {
    return fleet.heedHeartbeat(this.#parts, runnerId, running);
  }

  progress(runnerId: string, lease: Lease, progress: JobProgress): void {
    noteProgress(this.#parts, runnerId, lease, progress);
  }

  async settle(runnerId: string, outcome: PassedOutcome): Promise<boolean | null> {
    return settleJob(this.#parts, runnerId, outcome);
  }

  /** Publishes a change of a project to the listeners of `/v1/events`. */
  announce(event: Omit<FeedEvent, "at">, project: string): void {
    this.#parts.log.announce(event, project);
  }

  async announceRunner(id: string): Promise<void> {
    await fleet.announceRunner(this.#parts, id);
  }

  /**
   * Event streams of a project: `/{project}/feed`, and `/{project}/jobs/{id}` after `Last-Event-ID`; 503 where the
   * project has `most` of them, or all projects have too many.
   */
  override async fetch(request: Request): Promise<Response> {
    const { store, log } = this.#parts;
    const tooMany = new Response(null, { status: 503 });
    const { pathname, searchParams } = new URL(request.url);
    const [, project = "", kind, id] = pathname.split("/");
    const most = Number(searchParams.get("most") ?? DEFAULT_QUOTAS.eventStreams);
    if (kind !== "jobs" || id === undefined) return log.streamAll(project, most) ?? tooMany;
    const job = this.#isOf(project, id) ? store.findRecord(id) : null;
    if (job === null) return new Response(null, { status: 404 });
    return log.streamJob(project, job, Number(request.headers.get("last-event-id") ?? 0), most) ?? tooMany;
  }

  override async alarm(): Promise<void> {
    await ringQueue(this.#parts);
  }

  #isOf(project: string, id: string): boolean {
    return this.#parts.store.projectOf(id) === project;
  }
}
