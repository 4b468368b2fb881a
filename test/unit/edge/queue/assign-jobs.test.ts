import { describe, expect, it } from "vitest";
import { assignJobs } from "../../../../src/edge/queue/assign-jobs.ts";
import type { QueuedJob } from "../../../../src/edge/queue/job-rows.ts";
import type { KnownRunner } from "../../../../src/edge/queue/queue-rpc.ts";
import { BenchmarkSpec } from "../../../../src/protocol/jobs/benchmark.ts";
import { capabilities } from "../../../edge/stack/samples.ts";
import { fc } from "../../property.ts";

const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" });

/** Jobs are numbered as they came. */
function jobOf(project: string, no: number): QueuedJob {
  const id = `job_${String(no).padStart(6, "0")}`;
  const record = { id, state: "queued", attempt: 0, maxAttempts: 3, epoch: 0, runnerId: null } as const;
  return {
    project,
    record: { ...record, leaseUntilMs: null, startedAtMs: null, endedAtMs: null, problem: null },
    spec,
    profile: null,
  };
}

function runnerOf(id: string, project: string, shared: boolean, jobSlots = 1): KnownRunner {
  const state = { online: true, draining: false, jobsLeft: null };
  return { id, project, shared, ...state, capabilities: { ...capabilities, jobSlots } };
}

/** A queue whose slots become free one after the other: gives the jobs in the order in which they were given out. */
class Line {
  readonly #runners: readonly KnownRunner[];
  readonly #turns = new Map<string, number>();
  #waiting: QueuedJob[] = [];
  #turn = 0;
  #jobs = 0;

  constructor(runners: readonly KnownRunner[]) {
    this.#runners = runners;
  }

  submit(project: string): void {
    this.#waiting.push(jobOf(project, this.#jobs++));
  }

  /** Jobs that all idle runners take; they finish before the next round. */
  round(): { project: string; id: string; runnerId: string }[] {
    const pairs = assignJobs(
      {
        waiting: Map.groupBy(this.#waiting, ({ project }) => project),
        runners: this.#runners,
        leased: [],
        turnOf: (project) => this.#turns.get(project) ?? 0,
      },
      Date.now(),
    );
    for (const { job } of pairs) this.#turns.set(job.project, ++this.#turn);
    const taken = new Set(pairs.map(({ job }) => job));
    this.#waiting = this.#waiting.filter((job) => !taken.has(job));
    return pairs.map(({ job, runner }) => ({ project: job.project, id: job.record.id, runnerId: runner.id }));
  }

  waitingOf(project: string): number {
    return this.#waiting.filter((job) => job.project === project).length;
  }
}

const PROJECTS = ["main", "lab", "shop", "school"] as const;

describe("projects that share a runner", () => {
  it("have their turns: a thousand jobs of one keep another's waiting for one slot", () => {
    const line = new Line([runnerOf("rnr_a", "main", true)]);
    for (let job = 0; job < 1_000; job++) line.submit("main");
    expect(line.round().map(({ project }) => project)).toEqual(["main"]);
    line.submit("lab");
    expect(line.round().map(({ project }) => project)).toEqual(["lab"]);
    expect(line.round().map(({ project }) => project)).toEqual(["main"]);
    line.submit("lab");
    expect(line.round().map(({ project }) => project)).toEqual(["lab"]);
  });

  it("never meet another twice while a job of theirs waits, in any order of submissions", () => {
    const steps = fc.array(fc.oneof(fc.constantFrom(...PROJECTS), fc.constant(null)), { maxLength: 120 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 3 }), (events, jobSlots) => {
        const line = new Line([runnerOf("rnr_a", "main", true, jobSlots)]);
        /** For each waiting project: the projects given a slot since it began to wait or was last given one. */
        const seen = new Map<string, string[]>();
        for (const event of [...events, ...events.map(() => null)]) {
          if (event !== null) {
            line.submit(event);
            if (!seen.has(event)) seen.set(event, []);
            continue;
          }
          const given = line.round();
          // Work is never kept back.
          const open = PROJECTS.reduce((sum, project) => sum + line.waitingOf(project), 0);
          expect(given.length === jobSlots || open === 0).toBe(true);
          for (const { project } of given) {
            seen.set(project, []);
            for (const [other, met] of seen) if (other !== project) met.push(project);
          }
          for (const project of PROJECTS) if (line.waitingOf(project) === 0) seen.delete(project);
          for (const met of seen.values()) expect(new Set(met).size).toBe(met.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("get their own jobs oldest first, each on a runner that works for them", () => {
    const runners = [
      runnerOf("rnr_main", "main", false),
      runnerOf("rnr_lab", "lab", false),
      runnerOf("rnr_all", "main", true),
    ];
    const mayUse: Record<string, string[]> = { main: ["rnr_main", "rnr_all"], lab: ["rnr_lab", "rnr_all"] };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PROJECTS), { maxLength: 60 }), (submitted) => {
        const line = new Line(runners);
        for (const project of submitted) line.submit(project);
        const given = Array.from({ length: submitted.length + 1 }, () => line.round()).flat();
        expect(given).toHaveLength(submitted.length);
        for (const project of PROJECTS) {
          const own = given.filter((each) => each.project === project);
          expect(own.map(({ id }) => id)).toEqual(own.map(({ id }) => id).toSorted());
          for (const { runnerId } of own) expect(mayUse[project] ?? ["rnr_all"]).toContain(runnerId);
        }
      }),
    );
  });
});
