import { expect, it } from "vitest";
import type { Lease } from "../../../../src/protocol/link.ts";
import { createProblem } from "../../../../src/protocol/wire/problem.ts";
import { fc } from "../../property.ts";
import { LEASE_MS, PureQueue } from "./pure-queue.ts";

/** Tests the queue against a reference without records: holders, leases' ends, and ended jobs. */

const RUNNERS = ["a", "b", "c"].map((letter) => `rnr_${letter.repeat(26)}`);
const PASSING = createProblem("device-lost", "It died.");
const LASTING = createProblem("kernel-incorrect", "It is wrong.");

interface Held {
  readonly runner: string;
  readonly epoch: number;
  untilMs: number;
}

interface Expected {
  readonly pinned: string | undefined;
  readonly maxAttempts: number;
  tries: number;
  epoch: number;
  held: Held | null;
  end: "succeeded" | "failed" | "cancelled" | null;
}

/** The reference: jobs in order of arrival, and the runners that may be given one. */
class Reference {
  readonly jobs = new Map<string, Expected>();
  /** Every lease that was ever given. */
  readonly given: { runner: string; lease: Lease }[] = [];
  /** Known runners, in order of arrival, and whether they may be given jobs. */
  readonly ready = new Map<string, boolean>();
  nowMs = 1_000;

  giveOut(): void {
    for (const [jobId, job] of this.jobs) {
      if (job.end !== null || job.held !== null) continue;
      const busy = new Set([...this.jobs.values()].map(({ held }) => held?.runner));
      const [runner] =
        [...this.ready].find(
          ([each, isReady]) => isReady && !busy.has(each) && (job.pinned === undefined || job.pinned === each),
        ) ?? [];
      if (runner === undefined) continue;
      job.tries++;
      job.epoch++;
      job.held = { runner, epoch: job.epoch, untilMs: this.nowMs + LEASE_MS };
      this.given.push({ runner, lease: { jobId, epoch: job.epoch } });
    }
  }

  holds(runner: string, { jobId, epoch }: Lease): Expected | null {
    const job = this.jobs.get(jobId);
    return job?.held?.runner === runner && job.held.epoch === epoch ? job : null;
  }

  lose(job: Expected, isPassing: boolean): void {
    job.held = null;
    if (!isPassing || job.tries >= job.maxAttempts) job.end = "failed";
  }
}

type Command = fc.Command<Reference, PureQueue>;

class Act implements Command {
  readonly #name: string;
  readonly #expect: (model: Reference) => unknown;
  readonly #do: (queue: PureQueue, model: Reference) => unknown;

  constructor(
    name: string,
    expectIt: (model: Reference) => unknown,
    doIt: (queue: PureQueue, model: Reference) => unknown,
  ) {
    this.#name = name;
    this.#expect = expectIt;
    this.#do = doIt;
  }

  check(): boolean {
    return true;
  }

  run(model: Reference, queue: PureQueue): void {
    // The choice of an action depends on earlier results.
    const told = this.#do(queue, model);
    expect(JSON.stringify(told), this.#name).toBe(JSON.stringify(this.#expect(model)));
    agree(model, queue);
  }

  toString(): string {
    return this.#name;
  }
}

/** Compares texts: assertions on whole objects would take most of the test's time. */
function agree(model: Reference, queue: PureQueue): void {
  const is = [...queue.jobs].map(([id, { record, stored, ends }]) => {
    const { state, attempt, epoch, leaseUntilMs } = record;
    return {
      id,
      state,
      attempt,
      epoch,
      leaseUntilMs,
      holder: state === "leased" ? record.runnerId : null,
      stored,
      ends,
    };
  });
  const shall = [...model.jobs].map(([id, { tries, epoch, held, end }]) => ({
    id,
    state: end ?? (held === null ? "queued" : "leased"),
    attempt: tries,
    epoch,
    leaseUntilMs: held?.untilMs ?? null,
    holder: held?.runner ?? null,
    stored: end === "succeeded" ? 1 : 0,
    ends: end === null ? 0 : 1,
  }));
  expect(JSON.stringify(is)).toBe(JSON.stringify(shall));
  const last = queue.offers.at(-1);
  expect(queue.offers.length).toBe(model.given.length);
  expect(JSON.stringify(last && { runner: last.runnerId, lease: last.lease })).toBe(JSON.stringify(model.given.at(-1)));
}

const runner = fc.constantFrom(...RUNNERS);
/** Index into all leases so far. */
const pick = fc.nat(30);
const pickedOf = (given: readonly { runner: string; lease: Lease }[], which: number) =>
  given.length === 0 ? null : (given[which % given.length] ?? null);
let nextJob = 0;

const commands: fc.Arbitrary<Command>[] = [
  fc
    .record({ maxAttempts: fc.integer({ min: 1, max: 3 }), pinned: fc.option(runner, { nil: undefined }) })
    .map(({ maxAttempts, pinned }) => {
      const id = `job_${String(nextJob++).padStart(9, "0")}`;
      return new Act(
        `submit ${id} ${pinned ?? ""}`,
        (model) => {
          model.jobs.set(id, { pinned, maxAttempts, tries: 0, epoch: 0, held: null, end: null });
          model.giveOut();
        },
        (queue) => queue.submit(id, maxAttempts, pinned),
      );
    }),
  fc.record({ who: runner, keeps: fc.boolean() }).map(
    ({ who, keeps }) =>
      new Act(
        `connect ${who} ${keeps ? "with" : "without"} its jobs`,
        (model) => {
          const stale: Lease[] = [];
          for (const { runner: holder, lease } of model.given) {
            if (holder !== who) continue;
            const job = model.holds(who, lease);
            if (job === null && keeps) stale.push(lease);
            else if (job !== null && keeps) job.held!.untilMs = model.nowMs + LEASE_MS;
            else if (job !== null) model.lose(job, true);
          }
          model.ready.set(who, true);
          model.giveOut();
          return stale;
        },
        (queue, model) =>
          queue.connect(who, keeps ? model.given.filter((each) => each.runner === who).map(({ lease }) => lease) : []),
      ),
  ),
  runner.map(
    (who) =>
      new Act(
        `disconnect ${who}`,
        (model) => void model.ready.set(who, false),
        (queue) => queue.disconnect(who),
      ),
  ),
  runner.map(
    (who) =>
      new Act(
        `drain ${who}`,
        (model) => void model.ready.set(who, false),
        (queue) => queue.drain(who),
      ),
  ),
  fc.record({ who: runner, which: pick }).map(({ who, which }) => {
    let lease: Lease | null = null;
    return new Act(
      `heartbeat of ${who} with ${which}`,
      (model) => {
        const job = lease === null ? null : model.holds(who, lease);
        if (job !== null) job.held!.untilMs = model.nowMs + LEASE_MS;
        model.giveOut();
        return lease === null || job !== null ? [] : [lease];
      },
      (queue, model) => {
        lease = pickedOf(model.given, which)?.lease ?? null;
        return queue.heartbeat(who, lease === null ? [] : [lease]);
      },
    );
  }),
  fc
    .record({ which: pick, ending: fc.constantFrom("well", "passing", "lasting" as const), thief: fc.option(runner) })
    .map(({ which, ending, thief }) => {
      let sent: { runner: string; lease: Lease } | null = null;
      return new Act(
        `outcome ${ending} of ${which}${thief === null ? "" : ` by ${thief}`}`,
        (model) => {
          if (sent === null) return false;
          const job = model.holds(sent.runner, sent.lease);
          if (job === null) return model.jobs.get(sent.lease.jobId)!.end === "succeeded" && isLast(model, sent);
          if (ending === "well") Object.assign(job, { held: null, end: "succeeded" });
          else model.lose(job, ending === "passing");
          model.giveOut();
          return true;
        },
        (queue, model) => {
          const picked = pickedOf(model.given, which);
          sent = picked && { ...picked, runner: thief ?? picked.runner };
          if (sent === null) return false;
          const problem = ending === "well" ? null : ending === "passing" ? PASSING : LASTING;
          return queue.settle(sent.runner, sent.lease, problem);
        },
      );
    }),
  fc.nat(2 * LEASE_MS).map(
    (ms) =>
      new Act(
        `wait ${ms}`,
        (model) => {
          model.nowMs += ms;
          for (const job of model.jobs.values()) {
            if (job.held !== null && job.held.untilMs <= model.nowMs) model.lose(job, true);
          }
          model.giveOut();
        },
        (queue) => queue.pass(ms),
      ),
  ),
  fc.nat(30).map((which) => {
    let id: string | undefined;
    return new Act(
      `cancel ${which}`,
      (model) => {
        const job = model.jobs.get(id ?? "");
        if (job !== undefined && job.end === null) Object.assign(job, { held: null, end: "cancelled" });
        model.giveOut();
      },
      (queue, model) => {
        const ids = [...model.jobs.keys()];
        id = ids[which % Math.max(1, ids.length)];
        return queue.cancel(id ?? "");
      },
    );
  }),
  pick.map((which) => {
    let lost: { runner: string; lease: Lease } | null = null;
    return new Act(
      `lose the offer ${which}`,
      (model) => {
        const job = lost === null ? null : model.holds(lost.runner, lost.lease);
        if (job === null) return;
        job.held = null;
        job.tries--;
      },
      (queue, model) => {
        lost = pickedOf(model.given, which);
        if (lost !== null) queue.revoke(lost.runner, lost.lease);
      },
    );
  }),
];

/** True if a lease is the last of its job: the one under which it succeeded. */
function isLast(model: Reference, { runner: who, lease }: { runner: string; lease: Lease }): boolean {
  const last = model.given.findLast((each) => each.lease.jobId === lease.jobId);
  return last?.lease.epoch === lease.epoch && last.runner === who;
}

it("does what the reference says, under any commands", () => {
  fc.assert(
    fc.property(fc.commands(commands, { size: "+2", maxCommands: 60 }), (run) => {
      const both = { model: new Reference(), real: new PureQueue() };
      fc.modelRun(() => both, run);
      expect(both.real.jobs.size).toBe(both.model.jobs.size);
    }),
    { numRuns: 2_000 },
  );
});
