import { setTimeout as delay } from "node:timers/promises";
import type { Attacker } from "./attacker/attacker.ts";
import type { Attack } from "./attacks/attack.ts";
import type { HostileStack } from "./hostile-stack.ts";
import { isCalm } from "./judge-outcome.ts";
import type { VictimFigures } from "./victim/victim-figures.ts";
import { type EdgeRecord, watchEdge } from "./watch-edge.ts";

/** Longest time of what comes before an attack. */
const PREPARE_MS = 120_000;
/** Longest time for an attack's first answer: on a slow machine, or one that stands still, an attack lasts as long. */
const ANSWERED_MS = 60_000;
const LOOK_MS = 50;
/** Time for an attack's last requests to end after it. */
const ENDING_MS = 30_000;
/** Measurements without the attack, until one is calm: the attack before may have left work. */
const CALM_TRIES = 3;

/** What an attack did to the victim and to the edge. */
export interface Outcome {
  readonly name: string;
  readonly does: string;
  readonly before: VictimFigures;
  readonly during: VictimFigures;
  readonly answers: Readonly<Record<string, number>>;
  readonly edge: EdgeRecord;
  /** Why the attack, or its end, did not go as planned. */
  readonly trouble: readonly string[];
}

/** Measures the victim alone and then under the attack, for the same time, with the same arrivals. */
export async function playAttack(stack: HostileStack, attack: Attack, seconds: number): Promise<Outcome> {
  const { name, does } = attack;
  const load = { ratePerSecond: stack.victimRate, seconds, seed: 1 };
  await stack.untilServed();
  const trouble: string[] = [];
  let before = await stack.victim.putLoad(load);
  for (let tries = 1; tries < CALM_TRIES && !isCalm(before); tries++) before = await stack.victim.putLoad(load);
  if (!isCalm(before)) trouble.push("cannot be judged: the victim's requests failed without it, too");
  const attacker = await stack.openAttacker();
  const endWatch = await watchEdge(stack.otherPids);
  const noting = async (what: string, work: Promise<unknown>) => {
    await work.catch((error: unknown) => trouble.push(`${what}: ${describe(error)}`));
  };
  let begin: (() => Promise<unknown>) | null = null;
  await noting(
    "could not be prepared",
    inTime(
      PREPARE_MS,
      prepare(attacker, attack).then((run) => (begin = run)),
    ),
  );
  // An attack that could not be prepared is none, but what was done for it counts.
  const attacking = noting("broke off", (begin as (() => Promise<unknown>) | null)?.() ?? Promise.resolve());
  const during = await stack.victim.putLoad(load);
  if (begin !== null) await Promise.race([attacking, untilAnswered(attacker)]);
  attacker.end();
  await noting("did not end", inTime(ENDING_MS, attacking));
  await noting("left what could not be closed", stack.closeAttacker(attacker));
  return { name, does, before, during, answers: attacker.answers.list(), edge: await endWatch(), trouble };
}

async function untilAnswered({ answers }: Attacker): Promise<void> {
  for (const endMs = performance.now() + ANSWERED_MS; answers.isEmpty && performance.now() < endMs;) {
    await delay(LOOK_MS);
  }
}

/** Also what throws at once rejects. */
async function prepare(attacker: Attacker, attack: Attack): Promise<() => Promise<unknown>> {
  return attack.prepare(attacker);
}

async function inTime(limitMs: number, work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  const late = delay(limitMs, undefined, { signal: waiting.signal }).then(
    () => Promise.reject(new Error(`took longer than ${limitMs / 1e3} s`)),
    () => undefined,
  );
  await Promise.race([work, late]).finally(() => waiting.abort());
}

function describe(error: unknown): string {
  return error instanceof Error ? [error.message, describe(error.cause)].filter(Boolean).join(": ") : "";
}
