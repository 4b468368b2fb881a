import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { describeMachine } from "../../bench/describe-machine.ts";
import { ensureBuilt } from "../../src/local/build.ts";
import { type Arguments, type HostileWish, parseArguments } from "./arguments.ts";
import { ATTACKS } from "./attacks/attacks.ts";
import { type HostileStack, startHostileStack } from "./hostile-stack.ts";
import { judgeOutcome } from "./judge-outcome.ts";
import { type Outcome, playAttack } from "./play-attack.ts";
import { renderOutcomes } from "./render-outcomes.ts";

/** An attacker has a machine of its own: here it takes what the stack and the victim leave. */
const LOW_PRIORITY = 10;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Gives the exit code: 2 for a wrong command line, 1 where an attack did what it must not. */
async function main(wish: Arguments): Promise<number> {
  if (wish.kind === "mistake") {
    say(`hostile: ${wish.sentence}`);
    return 2;
  }
  if (wish.kind === "list") {
    for (const { name, does } of ATTACKS.values()) process.stdout.write(`${name.padEnd(18)}  ${does}\n`);
    return 0;
  }
  await ensureBuilt(join(import.meta.dirname, "../.."), say);
  const machine = await describeMachine();
  const reportOf = (outcomes: readonly Outcome[]) => ({ machine, seconds: wish.seconds, outcomes });
  const { out } = wish;
  // After each attack: a run is long, and may be broken off.
  const outcomes = await playAll(wish, async (so) => {
    if (out !== null) await writeFile(out, `${JSON.stringify(reportOf(so), null, 2)}\n`);
  });
  process.stdout.write(`${wish.json ? JSON.stringify(reportOf(outcomes)) : renderOutcomes(outcomes)}\n`);
  return outcomes.some((outcome) => judgeOutcome(outcome).length > 0) ? 1 : 0;
}

async function playAll(
  { names, seconds }: HostileWish,
  keep: (outcomes: readonly Outcome[]) => Promise<void>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let stack = await start();
  try {
    for (const name of names) {
      // What an attack has left unusable must not spoil the next one.
      if (!(await isServed(stack))) {
        say("the victim is not served any more: starting anew");
        await stack.stop();
        stack = await start();
      }
      const outcome = await playAttack(stack, ATTACKS.get(name)!, seconds);
      outcomes.push(outcome);
      await keep(outcomes);
      const found = [...judgeOutcome(outcome), ...outcome.trouble];
      say(`${name}: ${found.length === 0 ? "nothing found" : found.join("; ")}`);
    }
  } finally {
    await stack.stop();
  }
  return outcomes;
}

async function start(): Promise<HostileStack> {
  say("starting edge, runner and victim");
  takePriority(0);
  const stack = await startHostileStack();
  takePriority(LOW_PRIORITY);
  say(`the victim sends ${stack.victimRate.toFixed(0)} inferences a second`);
  return stack;
}

/** Processes that are started later have it, too; not everyone may raise it again. */
function takePriority(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // A stack that is started anew is then as slow as the attacker.
  }
}

function isServed(stack: HostileStack): Promise<boolean> {
  return stack.untilServed().then(
    () => true,
    () => false,
  );
}

// With an exit the edge's process ends, too; the runner and the victim end with their channels.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exit(await main(parseArguments(process.argv.slice(2), [...ATTACKS.keys()])));
