import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { LinkChannel } from "../../../src/gpu-runner/link/link-channel.ts";
import { JobRunner } from "../../../src/gpu-runner/job-runner.ts";
import { EdgeMessage, type Lease, parseText, RunnerMessage } from "../../../src/protocol/link.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { benchmarkResult } from "../../edge/stack/samples.ts";
import { LEASE_MS, PureQueue } from "../edge/queue/pure-queue.ts";
import { fc } from "../property.ts";

/**
 * Both ends of the link, with a network between them that loses, repeats, reorders and delays: the runner's own jobs
 * and channel, and the queue's own decisions. Whatever the network did, each job ends once.
 */

const RUNNERS = ["a", "b"].map((letter) => `rnr_${letter.repeat(26)}`);
const NEVER_MS = 2 ** 30;

interface Work {
  readonly lease: Lease;
  end(isWell: boolean): void;
}

/** A runner with its connection, and the messages on the way in either direction. */
class Site {
  readonly id: string;
  readonly jobs: JobRunner;
  readonly work = new Set<Work>();
  toEdge: string[] = [];
  toRunner: string[] = [];
  readonly #channel = new LinkChannel();

  constructor(id: string) {
    this.id = id;
    let taken: { lease: Lease; signal: AbortSignal } | null = null;
    const shared = {
      openArtifacts: (lease: Lease, signal: AbortSignal) => {
        taken = { lease, signal };
        return {};
      },
      // A workload that ends when the test says so, or when its lease is taken back.
      watch: { beside: () => this.#begin(taken!), noteResult: () => undefined },
      spans: { open: () => null },
    };
    this.jobs = new JobRunner(shared as never, this.#channel, pino({ level: "silent" }));
    const send = (data: string) => void this.toEdge.push(data);
    this.#channel.attach({ readyState: WebSocket.OPEN, send } as never);
  }

  say(message: RunnerMessage): void {
    this.#channel.send(message);
  }

  /** Sends unanswered messages again; its own clock would take seconds. */
  resend(): void {
    this.jobs.connected(NEVER_MS);
  }

  #begin({ lease, signal }: { lease: Lease; signal: AbortSignal }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const work = {
        lease,
        end: (isWell: boolean) => {
          this.work.delete(work);
          if (isWell) resolve({ result: benchmarkResult(), deviceKey: "gpu0" });
          else reject(new ProblemError("device-lost", "It died."));
        },
      };
      this.work.add(work);
      signal.addEventListener("abort", () => work.end(false));
    });
  }
}

class World {
  readonly queue = new PureQueue();
  readonly sites = RUNNERS.map((id) => new Site(id));
  #offered = 0;

  constructor() {
    for (const site of this.sites) this.reconnect(site);
  }

  /** Everything on the way is lost; the runner says hello with its current jobs. */
  reconnect(site: Site): void {
    site.toEdge = [];
    site.toRunner = [];
    this.#cancel(site, this.queue.connect(site.id, site.jobs.leases()));
    this.sendOffers();
    site.resend();
  }

  /** Puts the queue's new offers on their way. */
  sendOffers(): void {
    for (; this.#offered < this.queue.offers.length; this.#offered++) {
      const { runnerId, lease, attempt, spec } = this.queue.offers[this.#offered]!;
      const site = this.sites.find(({ id }) => id === runnerId)!;
      site.toRunner.push(JSON.stringify({ type: "offer", lease, attempt, spec, model: null }));
    }
  }

  atEdge(site: Site, text: string): void {
    const parsed = parseText(RunnerMessage, text);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { message } = parsed;
    if (message.type === "heartbeat") this.#cancel(site, this.queue.heartbeat(site.id, message.running));
    if (message.type === "jobOutcome") {
      const { lease, outcome } = message;
      const last = this.queue.offers.findLast((given) => given.lease.jobId === lease.jobId);
      const isCurrent = last?.runnerId === site.id && last.lease.epoch === lease.epoch;
      const stored = this.queue.settle(site.id, lease, outcome.ok ? null : outcome.problem);
      if (stored && !isCurrent) throw new Error(`${lease.jobId}: an outcome of the old lease ${lease.epoch} was taken`);
      site.toRunner.push(JSON.stringify({ type: "jobSettled", lease, stored }));
    }
    this.sendOffers();
  }

  atRunner(site: Site, text: string): void {
    const parsed = parseText(EdgeMessage, text);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { message } = parsed;
    if (message.type === "offer") site.jobs.accept(message);
    if (message.type === "jobSettled") site.jobs.settled(message.lease);
    if (message.type === "jobCancel") site.jobs.cancel(message.lease);
  }

  #cancel(site: Site, stale: readonly Lease[]): void {
    for (const lease of stale) site.toRunner.push(JSON.stringify({ type: "jobCancel", lease }));
  }
}

/** Knowledge of the model: the existing jobs. */
interface Seen {
  readonly jobs: string[];
}
type Command = fc.AsyncCommand<Seen, World>;

/** Until promises of the runner that are due have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function act(name: string, work: (world: World, seen: Seen) => void): Command {
  return {
    check: () => true,
    run: async (seen, world) => {
      work(world, seen);
      await settle();
      world.sendOffers();
      judge(world);
    },
    toString: () => name,
  };
}

function judge({ queue }: World): void {
  const lastEpoch = new Map<string, number>();
  for (const { lease } of queue.offers) {
    if (lease.epoch !== (lastEpoch.get(lease.jobId) ?? 0) + 1) throw new Error(`${lease.jobId}: lease ${lease.epoch}`);
    lastEpoch.set(lease.jobId, lease.epoch);
  }
  for (const [id, { record, stored, ends }] of queue.jobs) {
    const isSound = ends <= 1 && stored === (record.state === "succeeded" ? 1 : 0);
    if (!isSound) throw new Error(`${id}: ${record.state}, ended ${ends} times, ${stored} results`);
  }
}

type Way = "toEdge" | "toRunner";
const where = fc.record({
  site: fc.nat(RUNNERS.length - 1),
  way: fc.constantFrom<Way>("toEdge", "toRunner"),
  at: fc.nat(5),
});

function pickOf(world: World, { site, way, at }: { site: number; way: Way; at: number }) {
  const from = world.sites[site]!;
  const index = from[way].length === 0 ? -1 : at % from[way].length;
  return { from, index, text: from[way][index] };
}

function deliver(world: World, from: Site, way: Way, text: string | undefined): void {
  if (text === undefined) return;
  if (way === "toEdge") world.atEdge(from, text);
  else world.atRunner(from, text);
}

const commands: fc.Arbitrary<Command>[] = [
  fc
    .record({ maxAttempts: fc.integer({ min: 1, max: 3 }), pinned: fc.option(fc.nat(RUNNERS.length - 1)) })
    .map(({ maxAttempts, pinned }) =>
      act(`submit${pinned === null ? "" : ` for ${pinned}`}`, (world, { jobs }) => {
        const id = createId("job", jobs.length);
        jobs.push(id);
        world.queue.submit(id, maxAttempts, pinned === null ? undefined : RUNNERS[pinned]);
      }),
    ),
  // Out of order, since any may be the next: a message is delayed if it is not chosen for long.
  ...[0, 1].map(() =>
    where.map((each) =>
      act(`deliver ${each.way} ${each.at} of ${each.site}`, (world) => {
        const { from, index, text } = pickOf(world, each);
        from[each.way].splice(index, index < 0 ? 0 : 1);
        deliver(world, from, each.way, text);
      }),
    ),
  ),
  where.map((each) =>
    act(`repeat ${each.way} ${each.at} of ${each.site}`, (world) => {
      const { from, text } = pickOf(world, each);
      deliver(world, from, each.way, text);
    }),
  ),
  where.map((each) =>
    act(`lose ${each.way} ${each.at} of ${each.site}`, (world) => {
      const { from, index } = pickOf(world, each);
      from[each.way].splice(index, index < 0 ? 0 : 1);
    }),
  ),
  fc.record({ site: fc.nat(RUNNERS.length - 1), isWell: fc.boolean() }).map(({ site, isWell }) =>
    act(`end the work of ${site} ${isWell ? "well" : "badly"}`, (world) => {
      const [work] = world.sites[site]!.work;
      work?.end(isWell);
    }),
  ),
  fc.nat(RUNNERS.length - 1).map((site) =>
    act(`heartbeat of ${site}`, (world) => {
      const { jobs } = world.sites[site]!;
      world.sites[site]!.say({ type: "heartbeat", running: jobs.leases() });
    }),
  ),
  fc.nat(RUNNERS.length - 1).map((site) => act(`resend of ${site}`, (world) => world.sites[site]!.resend())),
  fc.nat(RUNNERS.length - 1).map((site) => act(`reconnect ${site}`, (world) => world.reconnect(world.sites[site]!))),
  fc
    .nat(RUNNERS.length - 1)
    .map((site) => act(`disconnect ${site}`, (world) => world.queue.disconnect(RUNNERS[site]!))),
  fc.nat(2 * LEASE_MS).map((ms) => act(`wait ${ms}`, (world) => world.queue.pass(ms))),
  fc
    .nat(10)
    .map((which) =>
      act(`cancel ${which}`, (world, { jobs }) => world.queue.cancel(jobs[which % Math.max(1, jobs.length)] ?? "")),
    ),
];

/** The network is whole again, and all work ends well: all accepted jobs must end. */
async function heal(world: World): Promise<void> {
  for (const site of world.sites) world.reconnect(site);
  const isOver = () => [...world.queue.jobs.values()].every(({ ends }) => ends === 1);
  const isIdle = () => world.sites.every(({ jobs }) => jobs.leases().length === 0);
  for (let round = 0; round < 200 && !(isOver() && isIdle()); round++) {
    for (const site of world.sites) {
      for (const text of site.toRunner.splice(0)) world.atRunner(site, text);
      for (const work of site.work) work.end(true);
      await settle();
      site.say({ type: "heartbeat", running: site.jobs.leases() });
      site.resend();
      for (const text of site.toEdge.splice(0)) world.atEdge(site, text);
      for (const text of site.toRunner.splice(0)) world.atRunner(site, text);
    }
    world.queue.pass(1);
    world.sendOffers();
  }
  expect(isOver(), "every job has ended").toBe(true);
  expect(isIdle(), "no runner holds anything").toBe(true);
}

describe("the link", () => {
  it("ends each job once, and keeps its result once, whatever the network does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { size: "+2", maxCommands: 60 }), async (run) => {
        const world = new World();
        const seen: Seen = { jobs: [] };
        try {
          await fc.asyncModelRun(() => ({ model: seen, real: world }), run);
          await heal(world);
          judge(world);
          expect(world.queue.jobs.size).toBe(seen.jobs.length);
        } finally {
          for (const { jobs } of world.sites) jobs.stop();
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
