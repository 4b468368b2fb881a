import { DurableObject } from "cloudflare:workers";
import type { FeedEvent } from "../../protocol/service/service-state.ts";
import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import { createId } from "../../protocol/wire/id.ts";
import { CalibrationSpec } from "../../protocol/jobs/calibration.ts";
import {
  type Job,
  type JobListQuery,
  type JobProgress,
  type JobResult,
  type JobSpec,
  type JobSummary,
} from "../../protocol/jobs/job.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { JobOutcome, Lease } from "../../protocol/link.ts";
import { createProblem, type Problem } from "../../protocol/wire/problem.ts";
import type { CurvePoint } from "../../protocol/jobs/training.ts";
import { isPlacedHere, type OwedVersion } from "../fleet/plan-runner.ts";
import { configOf, type Env, type ProjectEnv, runnerLink, scopeEnv } from "../config.ts";
import { searchLanded } from "../history/detect/detect-landed.ts";
import { holdsFile, isSoundResult, noteFailure } from "../kinds/registry.ts";
import { keepResult, type KeptResult } from "../kinds/store-result.ts";
import { isSoundTrace, readSamples } from "../history/soundness.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { migrateObject } from "../store/migrate-object.ts";
import { findOwnerOfRunner, type RunnerOwner } from "../store/project-store.ts";
import { type ResolvedRule, resolveRule } from "../store/models/version-store.ts";
import { runIdOf } from "../store/history/run-store.ts";
import { recordQuarantine } from "../store/fleet/runner-store.ts";
import { putSamples } from "../store/history/report-store.ts";
import { ALL_PROJECTS, JobLog } from "./job-log.ts";
import { JobTraces, ProjectTurns, QUEUE_MIGRATIONS, StandingTable, traceOffer } from "./queue-tables.ts";
import type { QueuedJob } from "./job-rows.ts";
import { JobStore } from "./job-store.ts";
import * as machine from "./lease-machine.ts";
import { assignJobs } from "./assign-jobs.ts";
import {
  blamesRunner,
  GOOD_STANDING,
  noteFailedJob,
  noteFlap,
  noteSuccess,
  type RunnerStanding,
} from "./runner-standing.ts";
import { openScope } from "../http/span-log.ts";
import type { JobCount, JobQueueRpc, KnownRunner, Submission, SubmitOutcome } from "./queue-rpc.ts";
import { RunnerTable } from "./runner-table.ts";

const UNSOUND = createProblem(
  "backend-failed",
  "The result is not one of this job, or holds no sound distributions, or its trace is none or too large.",
);
const ENDED_JOBS_KEPT = 10_000;
/** Of one project, however many others end. */
const ENDED_PROJECT_JOBS_KEPT = 1_000;

type SoundOutcome = Extract<JobOutcome["outcome"], { ok: true }>;

/** Jobs from acceptance to their end, under leases that runners hold and renew. */
export class JobQueue extends DurableObject<Env> implements JobQueueRpc {
  readonly #store: JobStore;
  readonly #runners: RunnerTable;
  readonly #standings: StandingTable;
  readonly #log: JobLog;
  readonly #traces: JobTraces;
  readonly #turns: ProjectTurns;
  readonly #config: ReturnType<typeof configOf>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#config = configOf(env);
    migrateObject(ctx.storage, QUEUE_MIGRATIONS);
    this.#store = new JobStore(ctx.storage.sql);
    this.#runners = new RunnerTable(ctx.storage.sql);
    this.#standings = new StandingTable(ctx.storage.sql);
    this.#log = new JobLog(this.#store);
    this.#traces = new JobTraces(ctx.storage.sql);
    this.#turns = new ProjectTurns(ctx.storage.sql);
  }

  /** Accepts a job: it is on disk before this returns. The same idempotency key gives the same job. */
  async submit(submission: Submission): Promise<SubmitOutcome> {
    const { traceparent = null, ...asked } = submission;
    const { project, idempotencyKey, requestHash } = asked;
    const known = idempotencyKey === null ? null : this.#store.findByIdempotencyKey(idempotencyKey);
    if (known !== null && known.requestHash !== requestHash) {
      const detail = "This Idempotency-Key came with another request before.";
      return {
        ok: false,
        problem: createProblem("idempotency-key-reused", detail, {
          errors: [{ pointer: "header/idempotency-key", message: "was used for another job" }],
        }),
      };
    }
    if (known !== null) return { ok: true, job: this.#mustFind(known.id) };
    const full = this.#whatIsFull(project);
    if (full !== null) return { ok: false, problem: createProblem("queue-full", full, { retryAfterMs: 10_000 }) };
    const nowMs = Date.now();
    const id = createId("job", nowMs);
    this.ctx.storage.transactionSync(() => {
      this.#store.insert({ ...asked, id, createdAtMs: nowMs, maxAttempts: this.#config.maxAttempts });
      this.#log.record(id, "queued", null);
      if (traceparent !== null) this.#traces.keep(id, traceparent);
    });
    this.ctx.waitUntil(this.#dispatch());
    return { ok: true, job: this.#mustFind(id) };
  }

  /** Queues the calibrations that a runner owes, but none that waits or runs already. */
  async ensureCalibrations(runnerId: string, owed: readonly OwedVersion[]): Promise<void> {
    for (const { id, project } of owed) {
      if (this.#store.findCalibration(["queued", "leased"], runnerId, id) !== null) continue;
      await this.#calibrate(project, runnerId, id);
    }
  }

  /** A calibration of a version on a runner that has not begun: the one that waits, else a new one. */
  async calibrateAnew(project: string, runnerId: string, modelVersionId: string): Promise<SubmitOutcome> {
    const waiting = this.#store.findCalibration(["queued"], runnerId, modelVersionId);
    return waiting === null
      ? this.#calibrate(project, runnerId, modelVersionId)
      : { ok: true, job: this.#mustFind(waiting) };
  }

  /**
   * Queues a calibration of a version that has a new file, on every runner where its rule places it. One that
   * waits will measure that file, too; one that runs does not know it.
   */
  async calibrateEverywhere(project: string, modelVersionId: string, rule: ResolvedRule): Promise<void> {
    for (const runner of this.#runners.list()) {
      const isInSight = runner.shared || runner.project === project;
      if (isInSight && isPlacedHere(rule, runner)) await this.calibrateAnew(project, runner.id, modelVersionId);
    }
  }

  /** Whether a runner holds a calibration of any of these versions. */
  isCalibrating(runnerId: string, modelVersionIds: string[]): boolean {
    return this.#store.leased().some((job) => {
      const spec = job.runnerId === runnerId ? this.#store.findJob(job.id)?.spec : undefined;
      return spec?.kind === "calibration" && modelVersionIds.includes(spec.modelVersionId);
    });
  }

  /** Whether a runner holds a job that begins with this file: an entrant's, an archive's, a pool's, or of what it compresses. */
  isWorkingOn(runnerId: string, digest: string): boolean {
    return this.#store.leased().some((job) => {
      const spec = job.runnerId === runnerId ? this.#store.findJob(job.id)?.spec : undefined;
      return spec !== undefined && holdsFile(spec, digest);
    });
  }

  /** A compression of the project that waits or runs and is measured on this file, by its id. */
  findMeasuredOn(project: string, dataDigest: string): string | null {
    return this.#store.findMeasuredOn(project, dataDigest);
  }

  /** Whose job a runner holds under this very lease now; null where it holds none. */
  projectOfLease(runnerId: string, lease: Lease): string | null {
    const job = this.#store.findRecord(lease.jobId);
    if (job === null || !machine.holdsLease(job, lease, runnerId)) return null;
    return this.#store.projectOf(job.id);
  }

  /** A job of the project. */
  get(project: string, id: string): Job | null {
    return this.#isOf(project, id) ? this.#store.findJob(id) : null;
  }

  /** How many jobs of each kind are in each state, or ever came to their end. */
  counts(): JobCount[] {
    return this.#store.counts();
  }

  /** What a training told of its generations so far: of what a later attempt went through again, the latest. */
  readCurve(project: string, id: string): CurvePoint[] {
    if (!this.#isOf(project, id)) return [];
    const points = this.#store.eventsAfter(id, 0).flatMap(({ progress }) => progress?.point ?? []);
    const latest = new Map(points.map((point) => [point.generation, point]));
    return [...latest.values()].toSorted((a, b) => a.generation - b.generation);
  }

  /** Jobs of the project that are older than `beforeId`, newest first. */
  list(
    project: string,
    query: JobListQuery,
    beforeId: string | null,
  ): { items: JobSummary[]; nextCursor: string | null } {
    return this.#store.list(project, query, beforeId);
  }

  /** Cancels a job of the project and tells the runner that holds it. */
  async cancel(project: string, id: string): Promise<Job | null> {
    const before = this.#isOf(project, id) ? this.#store.findRecord(id) : null;
    if (before === null) return null;
    if (!machine.hasEnded(before)) {
      this.#log.apply(before, machine.cancel(before, Date.now()), null);
      if (before.runnerId !== null) {
        await runnerLink(this.env, before.runnerId).cancelJob({ jobId: id, epoch: before.epoch });
        this.ctx.waitUntil(this.#dispatch());
      }
    }
    return this.#store.findJob(id);
  }

  /** A runner said hello: leases that it no longer works on end now; it may get work. */
  async runnerConnected(runner: Omit<KnownRunner, "online">, running: Lease[]): Promise<Lease[]> {
    const { id } = runner;
    this.#runners.save({ ...runner, online: true });
    const stale = this.#renew(id, running);
    const problem = createProblem("runner-lost", "The runner came back without the job.");
    for (const job of this.#store.leased()) {
      if (job.runnerId !== id || running.some((lease) => machine.holdsLease(job, lease, id))) continue;
      this.#log.apply(job, machine.failAttempt(job, problem, Date.now()), problem.detail);
    }
    await this.announceRunner(id);
    this.ctx.waitUntil(this.#dispatch());
    return stale;
  }

  /** What a runner can do has changed while it is connected; the link announces it once it can be read. */
  runnerChanged(id: string, capabilities: Capabilities): void {
    this.#runners.setCapabilities(id, capabilities);
    this.ctx.waitUntil(this.#dispatch());
  }

  /** The runner's socket closed. Its leases run on: it may come back in time. */
  async runnerDisconnected(id: string): Promise<void> {
    this.#runners.setOnline(id, false);
    await this.announceRunner(id);
  }

  /** A runner drains, or finishes what it has before it stops; or it takes work again, whatever spoke against it. */
  async runnerDraining(id: string, draining: boolean): Promise<void> {
    this.#runners.setDraining(id, draining);
    if (!draining) await this.#restand(id, () => GOOD_STANDING);
    await this.announceRunner(id);
    if (!draining) await this.#dispatch();
  }

  /** A runner works for all projects now, or for its own alone: then what it holds for others is given to others. */
  async runnerShared(id: string, shared: boolean): Promise<void> {
    const owner = await this.#ownerOf(id);
    if (owner === null) return;
    this.#runners.setShared(id, shared);
    // Those who see it no more are told, too.
    this.#log.announce({ type: "runner", id }, ALL_PROJECTS);
    if (!shared) await this.#takeFromOthers(id, owner.project);
    await this.#dispatch();
  }

  /** A runner lost its connection, and not by leaving. */
  async runnerFlapped(id: string): Promise<void> {
    await this.#restand(id, (standing) => noteFlap(standing, Date.now()));
  }

  async runnerRemoved(id: string): Promise<void> {
    await this.announceRunner(id);
    this.#runners.forget(id);
    this.#standings.forget(id);
    const problem = createProblem("runner-lost", "The runner was removed.");
    for (const job of this.#store.leased()) {
      if (job.runnerId === id) this.#log.apply(job, machine.failAttempt(job, problem, Date.now()), problem.detail);
    }
    // Nobody else may take what waits for this runner alone.
    for (const job of this.#store.queuedOnlyFor(id)) {
      this.#log.apply(job, machine.fail(job, problem, Date.now()), problem.detail);
    }
    this.ctx.waitUntil(this.#dispatch());
  }

  /**
   * Renews the leases that a runner works on; gives back those that it no longer holds, and whether a job waits that
   * it might get, so that its next heartbeat is wanted, too.
   */
  async heartbeat(runnerId: string, running: Lease[]): Promise<{ stale: Lease[]; isWanted: boolean }> {
    this.#runners.setOnline(runnerId, true);
    const stale = this.#renew(runnerId, running);
    const isWanted = this.#store.hasQueuedFor(runnerId);
    const runner = isWanted ? this.#runners.find(runnerId) : null;
    if (runner !== null) await this.#dispatch([runner]);
    return { stale, isWanted };
  }

  progress(runnerId: string, lease: Lease, progress: JobProgress): void {
    const job = this.#store.findRecord(lease.jobId);
    if (job === null || !machine.holdsLease(job, lease, runnerId)) return;
    this.#store.saveProgress(job.id, progress);
    this.#log.record(job.id, "progress", null, progress);
  }

  /**
   * Takes an outcome: true once it is stored, false where its lease has ended. Results are in the
   * history before the job counts as ended; every step may be repeated.
   */
  async settle(runnerId: string, { lease, outcome }: JobOutcome): Promise<boolean> {
    const job = this.#store.findRecord(lease.jobId);
    if (job === null) return false;
    const wasStored = job.state === "succeeded" && job.epoch === lease.epoch && job.runnerId === runnerId;
    if (wasStored) return true;
    if (!machine.holdsLease(job, lease, runnerId)) return false;
    const nowMs = Date.now();
    const { spec } = this.#mustFind(job.id);
    const env = this.#envOf(job.id);
    const judged = judge(spec, outcome);
    let kept: JobResult | null = null;
    if (judged.ok) {
      // A whole lease for the database, so that the job is not given away while its result is stored.
      this.#store.save(machine.renewLease(job, nowMs, this.#config.intervals.leaseMs));
      kept = await this.#keep(env, job, runnerId, spec, judged, nowMs);
    } else {
      await this.#noteFailure(env, spec, judged.problem);
    }
    // The lease may have ended while the database wrote: then somebody else owns the job's end.
    const current = this.#store.findRecord(job.id);
    if (current === null || !machine.holdsLease(current, lease, runnerId)) return current?.state === "succeeded";
    if (judged.ok) {
      this.ctx.storage.transactionSync(() => {
        this.#store.saveResult(job.id, kept ?? judged.result);
        this.#log.apply(current, machine.succeed(current, nowMs), null);
      });
      this.#log.announce({ type: "history", id: null }, env.project);
      this.ctx.waitUntil(searchLanded(this.env, nowMs));
      await this.#restand(runnerId, noteSuccess);
    } else {
      const { problem } = judged;
      const ranMs = nowMs - (this.#store.leasedAtMs(job.id) ?? nowMs);
      this.#log.apply(current, machine.failAttempt(current, problem, nowMs), problem.detail);
      if (blamesRunner(spec, problem))
        await this.#restand(runnerId, (standing) => noteFailedJob(standing, { jobId: job.id, ranMs, problem }, nowMs));
    }
    this.ctx.waitUntil(this.#dispatch());
    return true;
  }

  /** Tells listeners of `/v1/events` that something of a project changed. */
  announce(event: Omit<FeedEvent, "at">, project: string): void {
    this.#log.announce(event, project);
  }

  /** Tells those who see a runner that it changed. */
  async announceRunner(id: string): Promise<void> {
    const owner = await this.#ownerOf(id);
    if (owner !== null) this.#log.announce({ type: "runner", id }, owner.shared ? ALL_PROJECTS : owner.project);
  }

  /** Event streams of a project: `/{project}/feed`, and `/{project}/jobs/{id}` behind `Last-Event-ID`. */
  override async fetch(request: Request): Promise<Response> {
    const [, project = "", kind, id] = new URL(request.url).pathname.split("/");
    if (kind !== "jobs" || id === undefined) return this.#log.streamAll(project);
    const job = this.#isOf(project, id) ? this.#store.findRecord(id) : null;
    if (job === null) return new Response(null, { status: 404 });
    return this.#log.streamJob(job, Number(request.headers.get("last-event-id") ?? 0));
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    for (const job of this.#store.leased()) {
      const after = machine.expireLease(job, nowMs);
      if (after !== job) this.#log.apply(job, after, after.problem?.detail ?? null);
    }
    this.#store.prune(ENDED_JOBS_KEPT, ENDED_PROJECT_JOBS_KEPT);
    this.#traces.prune();
    await this.#dispatch();
    await this.#armAlarm();
  }

  /**
   * Gives waiting jobs to those of these runners that have room, the projects in turn. An offer that does not arrive is
   * taken back.
   */
  async #dispatch(runners?: readonly KnownRunner[]): Promise<void> {
    if (this.#store.countQueued() === 0) return;
    const nowMs = Date.now();
    const quarantines = this.#standings.quarantines(nowMs);
    const known = (runners ?? this.#runners.list()).filter((runner) => runner.online && !runner.draining);
    const ready = known.filter(({ id }) => !quarantines.has(id));
    // Nothing else would tell that one has ended.
    if (ready.length < known.length)
      await this.#armAlarm(Math.min(...[...quarantines.values()].map(({ untilMs }) => untilMs)));
    if (ready.length === 0) return;
    const waiting = this.#store.queuedFor(ready.map(({ id }) => id));
    const turns = this.#turns.read();
    const pairs = assignJobs({ waiting, runners: ready, leased: this.#store.leased(), turns }, nowMs);
    for (const { job } of pairs) this.#turns.take(job.project);
    await Promise.all(pairs.map(({ job, runner }) => this.#offer(job, runner)));
  }

  async #offer(job: QueuedJob, runner: KnownRunner): Promise<void> {
    const granted = machine.grantLease(job.record, runner.id, Date.now(), this.#config.intervals.leaseMs);
    this.#log.apply(job.record, granted, null);
    await this.#armAlarm();
    const lease = { jobId: granted.id, epoch: granted.epoch };
    const scope = openScope(this.env, this.#traces.find(granted.id), (work) => this.ctx.waitUntil(work));
    const delivery = await traceOffer(scope, this.#mustFind(granted.id), (trace) =>
      runnerLink(this.env, runner.id)
        .offer({ lease, attempt: granted.attempt, spec: job.spec, ...trace })
        .catch(() => "failed" as const),
    );
    if (delivery === "sent") return;
    if (delivery === "offline") this.#runners.setOnline(runner.id, false);
    const current = this.#store.findRecord(granted.id);
    if (current !== null && machine.holdsLease(current, lease, runner.id)) {
      this.#log.apply(current, machine.revokeLease(current), "The runner could not be reached.");
    }
    await this.#armAlarm(Date.now() + this.#config.intervals.heartbeatMs);
  }

  /** Whoever owns the runner, the calibration is the model's project's. */
  async #calibrate(project: string, runnerId: string, modelVersionId: string): Promise<SubmitOutcome> {
    const spec = CalibrationSpec.parse({ kind: "calibration", modelVersionId, runnerId });
    return this.submit({ project, submittedBy: null, spec, profile: null, idempotencyKey: null, requestHash: "" });
  }

  /**
   * Puts a sound result where it is kept, behind its trace, if the job asked for one, and its samples; a policy that
   * is to be served becomes a version first, and a compressed file a variant. Gives the result as it is kept.
   */
  async #keep(
    env: ProjectEnv,
    { id: jobId, attempt }: machine.JobRecord,
    runnerId: string,
    spec: JobSpec,
    { result, deviceKey, startedAt, trace, samples }: SoundOutcome,
    endedAtMs: number,
  ): Promise<JobResult> {
    if (samples !== undefined) await this.#keepSamples(runIdOf(jobId), attempt, samples);
    const startedAtMs = Date.parse(startedAt);
    const run = { jobId, attempt, runnerId, deviceKey, spec, result, startedAtMs, endedAtMs };
    const { result: kept, configured, published } = await keepResult(env, run, trace);
    if (configured !== null) await this.#configure(runnerId, configured);
    if (published !== null) await this.#measurePublished(env, published);
    return kept;
  }

  /** As for a file that is uploaded. */
  async #measurePublished(
    env: ProjectEnv,
    { modelVersionId, placement }: NonNullable<KeptResult["published"]>,
  ): Promise<void> {
    if (placement === null) return;
    await this.calibrateEverywhere(env.project, modelVersionId, await resolveRule(openProject(env), placement));
  }

  /** What was applied counts once it is stored; a runner that is not there is told by its next welcome. */
  async #configure(runnerId: string, modelVersionId: string): Promise<void> {
    await runnerLink(this.env, runnerId)
      .configure(modelVersionId)
      .catch(() => undefined);
  }

  /** The result counts whether or not its samples can be kept. */
  async #keepSamples(runId: string, attempt: number, text: string): Promise<void> {
    const samples = readSamples(text);
    if (samples === null) return;
    try {
      await putSamples(this.env.ARTIFACTS, { runId, part: String(attempt) }, samples);
    } catch (error) {
      console.error(JSON.stringify({ event: "samples-lost", runId, error: String(error) }));
    }
  }

  /** A job fails whether or not the database can write down why a kernel did. */
  async #noteFailure(env: ProjectEnv, spec: JobSpec, problem: Problem): Promise<void> {
    try {
      await noteFailure(env, spec, problem);
    } catch (error) {
      console.error(JSON.stringify({ event: "note-failure-failed", error: String(error) }));
    }
  }

  /** Why no job of a project can be taken on; null where one can. */
  #whatIsFull(project: string): string | null {
    const own = this.#store.countQueuedOf(project);
    if (own >= LIMITS.queuedProjectJobs)
      return `${LIMITS.queuedProjectJobs} jobs of the project ${project} wait already.`;
    // A few of each are taken, whatever others have let pile up.
    if (own < LIMITS.queuedProjectFloor || this.#store.countQueued() < LIMITS.queuedJobs) return null;
    return `${LIMITS.queuedJobs} jobs wait already.`;
  }

  #isOf(project: string, id: string): boolean {
    return this.#store.projectOf(id) === project;
  }

  /** What a job's results are stored with. */
  #envOf(id: string): ProjectEnv {
    const project = this.#store.projectOf(id);
    if (project === null) throw new Error(`job ${id} is not in the queue`);
    return scopeEnv(this.env, project);
  }

  /** Whose runner it is; one that never said hello is known to the database alone. */
  async #ownerOf(runnerId: string): Promise<RunnerOwner | null> {
    return this.#runners.findOwner(runnerId) ?? findOwnerOfRunner(openDatabase(this.env.DB), runnerId);
  }

  /** Ends what a runner holds for other projects than this one; what waits for it alone fails. */
  async #takeFromOthers(runnerId: string, project: string): Promise<void> {
    const problem = createProblem("runner-lost", "The runner works for its own project alone now.");
    const held = this.#store.leasedTo(runnerId, project);
    // All at once: while one is cancelled at the runner, another may end.
    for (const job of held) this.#log.apply(job, machine.failAttempt(job, problem, Date.now()), problem.detail);
    for (const job of this.#store.queuedOnlyFor(runnerId, project)) {
      this.#log.apply(job, machine.fail(job, problem, Date.now()), problem.detail);
    }
    for (const { id, epoch } of held) await this.#cancelAt(runnerId, { jobId: id, epoch });
  }

  /** Tells a runner that nobody waits for a job any more; one that cannot be told learns it by its next heartbeat. */
  async #cancelAt(runnerId: string, lease: Lease): Promise<void> {
    await runnerLink(this.env, runnerId)
      .cancelJob(lease)
      .catch(() => undefined);
  }

  #renew(runnerId: string, running: Lease[]): Lease[] {
    const nowMs = Date.now();
    return running.filter((lease) => {
      const job = this.#store.findRecord(lease.jobId);
      if (job === null || !machine.holdsLease(job, lease, runnerId)) return true;
      this.#store.save(machine.renewLease(job, nowMs, this.#config.intervals.leaseMs));
      return false;
    });
  }

  /** Judges a runner anew. What of it is a change is told to those who list runners and send requests, once they can read it. */
  async #restand(runnerId: string, change: (before: RunnerStanding) => RunnerStanding): Promise<void> {
    const before = this.#standings.find(runnerId);
    const after = change(before);
    if (after === before) return;
    this.#standings.save(runnerId, after);
    const { quarantine } = after;
    if (quarantine?.untilMs === before.quarantine?.untilMs) return;
    const told = quarantine && { until: new Date(quarantine.untilMs).toISOString(), reason: quarantine.reason };
    try {
      await recordQuarantine(openDatabase(this.env.DB), runnerId, told);
    } catch (error) {
      // Jobs keep away from it all the same; requests do not.
      console.error(JSON.stringify({ event: "quarantine-not-recorded", runnerId, error: String(error) }));
    }
    await this.announceRunner(runnerId);
  }

  /** One alarm, at the earliest end of a lease, or sooner where something else is due. */
  async #armAlarm(dueMs = Number.POSITIVE_INFINITY): Promise<void> {
    const nowMs = Date.now();
    const atMs = Math.min(dueMs, ...this.#store.leased().map((job) => job.leaseUntilMs ?? Number.POSITIVE_INFINITY));
    const armedMs = await this.ctx.storage.getAlarm();
    if (Number.isFinite(atMs) && (armedMs === null || armedMs > atMs || armedMs <= nowMs))
      await this.ctx.storage.setAlarm(atMs);
  }

  #mustFind(id: string): Job {
    const job = this.#store.findJob(id);
    if (job === null) throw new Error(`job ${id} is not in the queue`);
    return job;
  }
}

/** An outcome as it counts: a result that is not sound is a failure. */
function judge(spec: JobSpec, outcome: JobOutcome["outcome"]): JobOutcome["outcome"] {
  if (!outcome.ok || (isSoundResult(spec, outcome.result) && isSoundTrace(outcome.trace))) return outcome;
  return { ok: false, problem: UNSOUND };
}
