import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import * as fc from "fast-check";
import { callEdge } from "../stack/edge-client.ts";
import { countRuns, linkStub, newRunner, queueStub, readEvents, readJob, submitJob } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

/** The queue itself with its database, two runners and their links, which may be evicted at any time. */

interface Seen {
  readonly jobs: string[];
  /** Every offer that a runner received, with its runner. */
  readonly offers: { site: Site; offer: Offer }[];
}

interface Site {
  readonly runner: Awaited<ReturnType<typeof newRunner>>;
  scripted: ScriptedRunner;
}

type Command = fc.AsyncCommand<Seen, Site[]>;
const ENDED = new Set(["succeeded", "failed", "cancelled"]);

/** Takes the offers that came, in order. */
function takeOffers(seen: Seen, sites: readonly Site[]): void {
  for (const site of sites) {
    const { received } = site.scripted;
    for (let at = received.findIndex(isOffer); at >= 0; at = received.findIndex(isOffer)) {
      const [offer] = received.splice(at, 1);
      seen.offers.push({ site, offer: offer as Offer });
    }
  }
}

const isOffer = ({ type }: { type: string }) => type === "offer";

/** Sends an outcome and returns whether the edge accepted it. */
async function settle({ scripted }: Site, { lease }: Offer, isWell: boolean): Promise<boolean> {
  if (isWell) scripted.succeed({ lease });
  else {
    const problem = createProblem("kernel-timeout", "It took too long.");
    scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
  }
  const settled = await scripted.next("jobSettled");
  expect(settled.lease).toEqual(lease);
  return settled.stored;
}

/** Disconnects, which does not count against a runner, and reconnects without any job. */
async function comeBack(site: Site, closed: () => void): Promise<void> {
  site.scripted.socket.close(1000, "cut");
  await site.scripted.nextClose();
  closed();
  site.scripted = await ScriptedRunner.online(site.runner);
}

function act(name: string, work: (sites: Site[], seen: Seen) => unknown): Command {
  return {
    check: () => true,
    run: async (seen, sites) => {
      await work(sites, seen);
      takeOffers(seen, sites);
    },
    toString: () => name,
  };
}

const site = fc.nat(1);
const pick = fc.nat(20);

const commands: fc.Arbitrary<Command>[] = [
  ...[0, 1].map(() => fc.constant(act("submit", async (_, { jobs }) => jobs.push((await submitJob()).id)))),
  ...[0, 1].map(() =>
    fc.record({ which: pick, isWell: fc.boolean() }).map(({ which, isWell }) =>
      act(`end ${which} ${isWell ? "well" : "badly"}`, async (_, { offers }) => {
        const given = offers[which % Math.max(1, offers.length)];
        if (given === undefined) return;
        const before = await readJob(given.offer.lease.jobId);
        const latest = offers.findLast(({ offer }) => offer.lease.jobId === before.id);
        const stored = await settle(given.site, given.offer, isWell);
        // A lease older than the last known one ends nothing.
        if (latest !== given) {
          expect(stored).toBe(false);
          if (ENDED.has(before.state)) expect(await readJob(before.id)).toEqual(before);
        }
        if (ENDED.has(before.state)) expect((await readJob(before.id)).state).toBe(before.state);
      }),
    ),
  ),
  site.map((at) =>
    act(`heartbeat of ${at}`, async (sites, { offers }) => {
      const mine = offers.filter((given) => given.site === sites[at]).map(({ offer }) => offer.lease);
      sites[at]!.scripted.send({ type: "heartbeat", running: mine.slice(-64) });
    }),
  ),
  fc.constant(
    act("let leases run out", async () => {
      await runInDurableObject(queueStub(), async (_, { storage }) => {
        storage.sql.exec("update jobs set lease_until_ms = 1 where state = 'leased'");
        await storage.setAlarm(Date.now() + 60_000);
      });
      await runDurableObjectAlarm(queueStub());
    }),
  ),
  fc.constant(act("evict the queue", () => evictDurableObject(queueStub()))),
  site.map((at) => act(`evict the link of ${at}`, (sites) => evictDurableObject(linkStub(sites[at]!.runner.runnerId)))),
  site.map((at) =>
    act(`reconnect ${at}`, async (sites, seen) => {
      await comeBack(sites[at]!, () => takeOffers(seen, sites));
    }),
  ),
  pick.map((which) =>
    act(`cancel ${which}`, async (_, { jobs }) => {
      const id = jobs[which % Math.max(1, jobs.length)];
      if (id !== undefined) await callEdge("POST", `/v1/jobs/${id}/cancel`);
    }),
  ),
];

/** Ends every offer well, until all accepted jobs have ended. */
async function finishAll(sites: Site[], seen: Seen): Promise<void> {
  for (const each of sites) await comeBack(each, () => takeOffers(seen, sites));
  await vi.waitFor(
    async () => {
      takeOffers(seen, sites);
      for (const { site: whose, offer } of seen.offers) {
        const job = await readJob(offer.lease.jobId);
        if (!ENDED.has(job.state)) await settle(whose, offer, true);
      }
      const states = await Promise.all(seen.jobs.map(async (id) => (await readJob(id)).state));
      expect(states.every((state) => ENDED.has(state))).toBe(true);
    },
    { ...BOUND, timeout: 60_000 },
  );
}

describe("the queue", () => {
  it(
    "ends each job once and keeps one result of it, whatever comes and whoever is evicted",
    { timeout: 180_000 },
    async () => {
      const sites: Site[] = [];
      for (let count = 0; count < 2; count++) {
        const runner = await newRunner();
        sites.push({ runner, scripted: await ScriptedRunner.online(runner) });
      }
      await fc.assert(
        fc.asyncProperty(fc.commands(commands, { maxCommands: 12 }), async (run) => {
          const seen: Seen = { jobs: [], offers: [] };
          await fc.asyncModelRun(() => ({ model: seen, real: sites }), run);
          await finishAll(sites, seen);
          for (const id of seen.jobs) {
            const { state } = await readJob(id);
            const events = await readEvents(id);
            expect(events.filter(({ type }) => ENDED.has(type)).map(({ type }) => type)).toEqual([state]);
            expect((await countRuns(id)).runs).toBe(state === "succeeded" ? 1 : 0);
            const epochs = seen.offers.flatMap(({ offer }) => (offer.lease.jobId === id ? offer.lease.epoch : []));
            expect(epochs.toSorted((a, b) => a - b)).toEqual([...new Set(epochs)].toSorted((a, b) => a - b));
          }
        }),
        // A shrunk case would run on the state that the failed ones left.
        { numRuns: 10, seed: 20_261_121, endOnFailure: true },
      );
    },
  );
});
