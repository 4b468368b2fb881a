import { Agent, type IncomingMessage, request } from "node:http";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { tuningResult } from "../../edge/stack/samples.ts";
import type { Attacker } from "../attacker/attacker.ts";
import { openRunner } from "../attacker/own-runner.ts";
import type { Attack } from "./attack.ts";

const JOBS = "/v1/jobs";
const BENCHMARK = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
const STREAMS = 2_000;

/** A search's result of nearly as many bytes as one may have. */
export function largeResult() {
  const result = tuningResult();
  const trial = { variant: "wide", axes: { lanes: 32 }, outcome: "too-slow", reason: null } as const;
  const rungsMs = Array.from({ length: LIMITS.tuningRungs }, () => Array.from({ length: 40 }, () => 1.234_567_8));
  const room = LIMITS.jobResultBytes - JSON.stringify(result).length - 1_000;
  const trials = Array.from({ length: Math.floor(room / JSON.stringify({ ...trial, rungsMs }).length) }, () => trial);
  return { ...result, trials: trials.map((each) => ({ ...each, rungsMs })) };
}

/** The id of a runner of the attacker's own that is gone, so that its jobs wait. */
async function loseRunner(attacker: Attacker): Promise<string> {
  const { runner, runnerId } = await openRunner(attacker);
  runner.close();
  return runnerId;
}

/** Submits a job, and cancels it where it was accepted. */
async function submitAndCancel(attacker: Attacker, body: object, headers: Record<string, string> = {}): Promise<void> {
  const { status, bytes } = await attacker.ask("POST", JOBS, { body, headers });
  if (status !== 202) return;
  const { id } = JSON.parse(new TextDecoder().decode(bytes)) as { id: string };
  await attacker.ask("POST", `${JOBS}/${id}/cancel`);
}

export const JOB_ATTACKS: readonly Attack[] = [
  {
    name: "job-lists",
    does: "job lists while its own runner stores results of 1.7 MB, and each of these again and again",
    prepare: async (attacker) => {
      const result = largeResult();
      const { runnerId } = await openRunner(attacker, ({ kind }) => (kind === "tuning" ? result : null));
      const body = { kind: "tuning", kernel: "triad", shape: { n: 60 }, runnerId };
      const { id } = await attacker.make("POST", JOBS, { body });
      const paths = [`${JOBS}?limit=200`, `${JOBS}/${id}`, `${JOBS}?limit=200&kind=tuning&state=succeeded`];
      return () =>
        Promise.all([
          attacker.flood(4, () => attacker.ask("POST", JOBS, { body })),
          attacker.flood(26, (count) => attacker.ask("GET", paths[count % paths.length]!)),
        ]);
    },
  },
  {
    name: "unfit-jobs",
    does: "thousands of jobs that no runner can take",
    prepare: async (attacker) => {
      await loseRunner(attacker);
      const profile = { name: "impossible", requirements: { minMemoryBytes: 2 ** 52 } };
      await attacker.make("POST", "/v1/profiles", { body: profile });
      const body = { ...BENCHMARK, profile: profile.name };
      return () => attacker.flood(30, () => attacker.ask("POST", JOBS, { body }));
    },
  },
  {
    name: "idempotency-keys",
    does: "submissions with ever new keys of the greatest length, each sent twice, then cancelled",
    prepare: async (attacker) => {
      const body = { ...BENCHMARK, runnerId: await loseRunner(attacker) };
      return () =>
        attacker.flood(30, async (count) => {
          const headers = { "idempotency-key": `${count}-`.padEnd(255, "k") };
          await attacker.ask("POST", JOBS, { body, headers });
          await submitAndCancel(attacker, body, headers);
        });
    },
  },
  {
    name: "unread-streams",
    does: "thousands of event streams of jobs and of changes that nobody reads, while jobs come and go",
    prepare: async (attacker) => {
      const body = { ...BENCHMARK, runnerId: await loseRunner(attacker) };
      const { id } = await attacker.make("POST", JOBS, { body });
      const paths = ["/v1/events", `${JOBS}/${id}/events`];
      const agent = new Agent({ keepAlive: false });
      attacker.signal.addEventListener("abort", () => agent.destroy(), { once: true });
      return async () => {
        const opening = attacker.flood(50, async (count) => {
          if (count < STREAMS) await openUnread(attacker, agent, paths[count % 2]!);
          else await submitAndCancel(attacker, body);
        });
        await opening;
      };
    },
  },
  {
    name: "trainings",
    does: "trainings of a day on the shared runner",
    prepare: (attacker) => {
      const algorithm = { name: "openes", population: 4_096 };
      const training = { kind: "training", environment: "cartpole", algorithm, generations: 1_000_000 };
      const body = { ...training, timeoutMs: LIMITS.trainingMs };
      return () => attacker.flood(2, () => attacker.ask("POST", JOBS, { body }));
    },
  },
];

/** Opens a stream and leaves it unread; counts the status of its reply. */
async function openUnread({ url, key, signal, answers }: Attacker, agent: Agent, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const outgoing = request(new URL(path, url), { agent, headers });
  const { promise, resolve } = Promise.withResolvers<IncomingMessage | null>();
  outgoing.once("response", resolve).on("error", () => resolve(null));
  outgoing.end();
  const reply = await promise;
  if (signal.aborted) return;
  answers.count(reply === null ? "no answer" : String(reply.statusCode));
  if (reply?.statusCode !== 200) reply?.resume();
}
