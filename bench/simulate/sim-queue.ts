import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import type { Capabilities, Device } from "../../src/protocol/fleet/hardware.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { createProblem } from "../../src/protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../src/protocol/service/project.ts";
import { assignJobs } from "../../src/edge/queue/assign-jobs.ts";
import * as machine from "../../src/edge/queue/lease-machine.ts";
import type { KnownRunner } from "../../src/edge/queue/queue-rpc.ts";
import type { Platform } from "./platform.ts";
import type { SimClock } from "./sim-clock.ts";
import { INTERVALS } from "./sim-link.ts";
import { exponential } from "./uniform-stream.ts";

/** Of a deployment: attempts of a job. */
const MAX_ATTEMPTS = 3;
/** A call holds the object for so long: the platform's "about 1,000 requests a second". */
const CALL_MS = 1;
/** What reading a runner takes of it where something waits, as measured. */
const RUNNER_READ_MS = 0.022;

const SPEC = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" });
const DEVICE: Device = {
  key: "gpu0",
  kind: "gpu",
  name: "simulated",
  software: false,
  fingerprint: { adapter: "simulated", driver: null, dawn: null, toggles: [], ort: null, cpu: "simulated" },
  backends: ["wgsl"],
  features: [],
  limits: {},
  memoryBytes: null,
  timestampQuantised: null,
  roofline: null,
};
const CAPABILITIES: Capabilities = {
  version: "simulated",
  hardware: {
    hostname: "simulated",
    os: "Linux",
    arch: "x64",
    cpu: { model: "simulated", physicalCores: 1, logicalCores: 2, speedGhz: null, features: [] },
    memoryBytes: 2 ** 33,
    virtual: true,
    node: "simulated",
  },
  devices: [DEVICE],
  kernels: [
    {
      name: "triad",
      description: "a = b + s·c",
      dimensions: [{ name: "n", description: "elements", min: 1, max: 1_048_576, default: 1_024 }],
      dtypes: ["float32"],
      variants: ["plain"],
    },
  ],
  jobSlots: 1,
};

/** What became of jobs, and how the queue object stood it. */
export interface QueueReport {
  readonly submitted: number;
  readonly refused: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Queued or leased at the end. */
  readonly open: number;
  readonly leases: number;
  readonly expired: number;
  /** Outcomes that came when their lease had ended. */
  readonly late: number;
  /** Of the busiest moment: how long a call waited until the object came to it. */
  readonly longestBacklogMs: number;
  /** Share of the time that the object was at work. */
  readonly busyShare: number;
}

/** The queue object: it does one thing after the other, by the product's own lease machine and assignment. */
export class SimQueue {
  readonly #clock: SimClock;
  readonly #platform: Platform;
  readonly #uniform: () => number;
  readonly #jobMs: number;
  /** Whether a runner's socket takes an offer. */
  readonly #reaches: (runnerId: string) => boolean;
  readonly #runners = new Map<string, KnownRunner>();
  readonly #jobs = new Map<string, machine.JobRecord>();
  /** What runners are at work on, as they see it themselves. */
  readonly #working = new Map<string, { readonly jobId: string; readonly epoch: number }>();
  readonly #counts = { submitted: 0, refused: 0, succeeded: 0, failed: 0, leases: 0, expired: 0, late: 0 };
  #freeAtMs = 0;
  #busyMs = 0;
  #longestBacklogMs = 0;
  #isDispatching = false;

  constructor(
    { clock, platform }: { readonly clock: SimClock; readonly platform: Platform },
    uniform: () => number,
    jobMs: number,
    reaches: (runnerId: string) => boolean,
  ) {
    this.#clock = clock;
    this.#platform = platform;
    this.#uniform = uniform;
    this.#jobMs = jobMs;
    this.#reaches = reaches;
    this.#tick();
  }

  /** A runner that said hello long ago. */
  know(runnerId: string): void {
    this.#runners.set(runnerId, {
      id: runnerId,
      capabilities: CAPABILITIES,
      online: true,
      draining: false,
      project: MAIN_PROJECT,
      shared: true,
    });
  }

  isWorking(runnerId: string): boolean {
    return this.#working.has(runnerId);
  }

  submit(): void {
    this.#call("job", () => {
      this.#counts.submitted++;
      const queued = this.#waiting().length;
      if (queued >= LIMITS.queuedJobs) return void this.#counts.refused++;
      const id = `job-${String(this.#counts.submitted).padStart(9, "0")}`;
      const empty = { runnerId: null, leaseUntilMs: null, startedAtMs: null, endedAtMs: null, problem: null };
      this.#jobs.set(id, { id, state: "queued", attempt: 0, maxAttempts: MAX_ATTEMPTS, epoch: 0, ...empty });
      this.#platform.write("job");
      this.#dispatchLater();
    });
  }

  heartbeat(runnerId: string): void {
    this.#call("heartbeat", () => {
      this.#platform.write("heartbeat");
      this.#setOnline(runnerId, true);
      const lease = this.#working.get(runnerId);
      const job = lease === undefined ? undefined : this.#jobs.get(lease.jobId);
      if (lease !== undefined && job !== undefined) {
        if (machine.holdsLease(job, lease, runnerId))
          this.#save(machine.renewLease(job, this.#clock.nowMs, INTERVALS.leaseMs));
        else this.#working.delete(runnerId);
      }
      this.#dispatchLater();
    });
  }

  /** The runner came back without what it was at work on. */
  runnerConnected(runnerId: string): void {
    this.#call("runner", () => {
      this.#setOnline(runnerId, true);
      const problem = createProblem("runner-lost", "The runner came back without the job.");
      for (const job of this.#leased()) {
        if (job.runnerId === runnerId) this.#end(machine.failAttempt(job, problem, this.#clock.nowMs));
      }
      this.#dispatchLater();
    });
  }

  runnerDisconnected(runnerId: string): void {
    this.#call("runner", () => this.#setOnline(runnerId, false));
  }

  /** A runner is gone with all that it was at work on; nobody is told. */
  loseWork(runnerId: string): void {
    this.#working.delete(runnerId);
  }

  announce(): void {
    this.#call("announce", () => {});
  }

  tell(durationMs: number): QueueReport {
    const open = [...this.#jobs.values()].filter((job) => !machine.hasEnded(job)).length;
    const longestBacklogMs = this.#longestBacklogMs;
    return { ...this.#counts, open, longestBacklogMs, busyShare: this.#busyMs / durationMs };
  }

  /** Puts a call behind all that came before it. */
  #call(what: Parameters<Platform["queue"]>[0], work: () => void): void {
    this.#platform.queue(what);
    this.#hold(CALL_MS, work);
  }

  #hold(durationMs: number, work: () => void): void {
    const { nowMs } = this.#clock;
    this.#longestBacklogMs = Math.max(this.#longestBacklogMs, this.#freeAtMs - nowMs);
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + durationMs;
    this.#busyMs += durationMs;
    this.#clock.at(this.#freeAtMs, work);
  }

  /** Looks for work where something waits: all runners are read for it. */
  #dispatchLater(): void {
    if (this.#isDispatching || this.#waiting().length === 0) return;
    this.#isDispatching = true;
    this.#hold(this.#runners.size * RUNNER_READ_MS, () => {
      this.#isDispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const ready = [...this.#runners.values()].filter(({ online, draining }) => online && !draining);
    const jobs = this.#waiting().map((record) => ({ record, project: MAIN_PROJECT, spec: SPEC, profile: null }));
    const waiting = new Map([[MAIN_PROJECT, jobs]]);
    const assignable = { waiting, runners: ready, leased: this.#leased(), turns: new Map<string, number>() };
    for (const { job, runner } of assignJobs(assignable, this.#clock.nowMs)) {
      const granted = machine.grantLease(job.record, runner.id, this.#clock.nowMs, INTERVALS.leaseMs);
      this.#counts.leases++;
      this.#save(granted);
      this.#platform.link(runner.id, "offer");
      if (this.#reaches(runner.id)) this.#work(granted, runner.id);
      else {
        this.#setOnline(runner.id, false);
        this.#save(machine.revokeLease(granted));
      }
    }
  }

  /** The runner works, tells its outcome, and does so again until it is settled; a lost one does nothing. */
  #work({ id: jobId, epoch }: machine.JobRecord, runnerId: string): void {
    const lease = { jobId, epoch };
    this.#working.set(runnerId, lease);
    this.#clock.at(this.#clock.nowMs + exponential(this.#uniform, this.#jobMs), () => {
      if (this.#working.get(runnerId) === lease) this.#call("job", () => this.#settle(runnerId, lease));
    });
  }

  #settle(runnerId: string, lease: { readonly jobId: string; readonly epoch: number }): void {
    if (this.#working.get(runnerId) === lease) this.#working.delete(runnerId);
    const job = this.#jobs.get(lease.jobId);
    if (job !== undefined && machine.holdsLease(job, lease, runnerId)) {
      this.#platform.database("result");
      this.#end(machine.succeed(job, this.#clock.nowMs));
    } else this.#counts.late++;
    this.#dispatchLater();
  }

  #end(job: machine.JobRecord): void {
    if (job.state === "succeeded") this.#counts.succeeded++;
    if (job.state === "failed") this.#counts.failed++;
    this.#save(job);
  }

  /** The alarm, every second. */
  #tick(): void {
    for (const job of this.#leased()) {
      const after = machine.expireLease(job, this.#clock.nowMs);
      if (after === job) continue;
      this.#counts.expired++;
      this.#end(after);
    }
    this.#dispatchLater();
    this.#clock.at(this.#clock.nowMs + 1e3, () => this.#tick());
  }

  /** Ended jobs are counted and forgotten. */
  #save(job: machine.JobRecord): void {
    if (machine.hasEnded(job)) this.#jobs.delete(job.id);
    else this.#jobs.set(job.id, job);
  }

  #setOnline(runnerId: string, online: boolean): void {
    const known = this.#runners.get(runnerId);
    if (known !== undefined && known.online !== online) this.#runners.set(runnerId, { ...known, online });
  }

  #waiting(): machine.JobRecord[] {
    return [...this.#jobs.values()].filter(({ state }) => state === "queued");
  }

  #leased(): machine.JobRecord[] {
    return [...this.#jobs.values()].filter(({ state }) => state === "leased");
  }
}
