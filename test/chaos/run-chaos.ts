import { setTimeout as delay } from "node:timers/promises";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { waitFor } from "../e2e/local-stack.ts";
import { type ChaosStack, placeEverywhere, startChaosStack } from "./chaos-stack.ts";
import { checkInferences } from "./promises/check-inferences.ts";
import { checkJobs } from "./promises/check-jobs.ts";
import { checkLeases } from "./promises/check-leases.ts";
import { checkReports } from "./promises/check-reports.ts";
import { feelPulse } from "./feel-pulse.ts";
import { canFillDisk } from "./faults/fill-disk.ts";
import { injectEdgeFault } from "./faults/inject-edge-fault.ts";
import { injectRunnerFault } from "./faults/inject-runner-fault.ts";
import { Ledger } from "./promises/ledger.ts";
import { type Fault, type FaultKind, planFaults } from "./faults/plan-faults.ts";
import { sendInferences } from "./load/send-inferences.ts";
import { sendReports } from "./load/send-reports.ts";
import { submitJobs } from "./load/submit-jobs.ts";

/** More than the longest that a runner or a job may wait for anything by itself, in all its attempts. */
const REST_MS = 300_000;

export interface ChaosOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly runners: number;
  readonly inferencesPerSecond: number;
  readonly meanGapMs: number;
  /** Allowance for answers beyond their deadline and the pulse; absent: that of an idle machine. */
  readonly slackMs?: number;
  readonly say: (line: string) => void;
}

export interface ChaosOutcome {
  readonly ledger: Ledger;
  readonly violations: readonly string[];
  /** Kinds that could not be made on this machine. */
  readonly without: readonly FaultKind[];
}

/** Applies faults to a stack under load for a time, lets it come to rest, and checks all accepted work. */
export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const { seed, durationMs, runners, meanGapMs, slackMs, say } = options;
  const without = new Set<FaultKind>((await canFillDisk()) ? [] : ["disk-full"]);
  const plan = planFaults({ seed, durationMs, runners, meanGapMs, without });
  const ledger = new Ledger();
  const stack = await startChaosStack(runners, ledger);
  const violations: string[] = [];
  try {
    await placeEverywhere(stack, "cartpole");
    say(`seed ${seed}: ${plan.length} faults in ${Math.round(durationMs / 1e3)} s`);
    violations.push(...(await underLoad(stack, ledger, options, () => injectAll(stack, ledger, plan, say))));
    await waitForRest(stack);
    violations.push(
      ...checkInferences(ledger, slackMs),
      ...checkLeases(ledger),
      ...(await checkReports(stack.patientClient, ledger)),
    );
    violations.push(...(await checkJobs(stack.patientClient, ledger)));
  } finally {
    const left = await stack.stop();
    if (left.length > 0) violations.push(`${left.length} processes outlived the end`);
  }
  for (const { runner, pids } of ledger.orphans) violations.push(`${pids.length} processes outlived ${runner}`);
  return { ledger, violations, without: [...without] };
}

/**
 * Runs the load during the faults, and until every part has shown that it works again; returns the parts that did not.
 */
async function underLoad(
  stack: ChaosStack,
  ledger: Ledger,
  { seed, inferencesPerSecond, say }: ChaosOptions,
  inject: () => Promise<void>,
): Promise<string[]> {
  const [jobs, rest] = [new AbortController(), new AbortController()];
  const working = submitJobs(stack, ledger, jobs.signal);
  const { signal } = rest;
  const sending = Promise.all([
    sendInferences(stack, ledger, { seed, perSecond: inferencesPerSecond, signal }),
    sendReports(stack, ledger, signal),
  ]);
  const pulse = new AbortController();
  const feeling = feelPulse(stack.edge.url, ledger, pulse.signal);
  try {
    await inject();
    say("the faults are over");
    return await waitForRecovery(stack, ledger);
  } finally {
    jobs.abort();
    await working;
    rest.abort();
    await sending;
    pulse.abort();
    await feeling;
  }
}

async function injectAll(
  stack: ChaosStack,
  ledger: Ledger,
  plan: readonly Fault[],
  say: (line: string) => void,
): Promise<void> {
  const startMs = performance.now();
  // Of one part one after the other, however long one takes.
  const parts = Map.groupBy(plan, ({ part }) => part);
  const injected = await Promise.allSettled(
    [...parts.values()].map(async (faults) => {
      for (const fault of faults) {
        await delay(Math.max(0, startMs + fault.atMs - performance.now()));
        const beganMs = performance.now();
        const { part, kind } = fault;
        say(`${seconds(beganMs - startMs)} ${part === "edge" ? "edge" : `runner-${part}`}: ${kind}`);
        try {
          await (fault.part === "edge"
            ? injectEdgeFault(stack, fault)
            : injectRunnerFault(stack.runners[fault.part]!, fault));
        } finally {
          ledger.faults.push({ ...fault, beganMs, endedMs: performance.now() });
        }
      }
    }),
  );
  // Not before the other parts are left alone, too.
  for (const each of injected) if (each.status === "rejected") throw each.reason;
}

/** Waits until every runner has answered, and a job was done, after the last fault; returns the missing ones. */
async function waitForRecovery({ runners }: ChaosStack, { inferences, jobs }: Ledger): Promise<string[]> {
  const quietMs = performance.now();
  const answered = runners.map(({ id, name }) =>
    waitFor(
      `${name} to answer again`,
      async () => inferences.find((sent) => sent.runnerId === id && sent.answer === "ok" && sent.sentMs > quietMs),
      REST_MS,
    ),
  );
  const isDone = async () => jobs.find(({ succeededMs }) => (succeededMs ?? 0) > quietMs);
  const waits = await Promise.allSettled([...answered, waitFor("a job to be done again", isDone, REST_MS)]);
  return waits.flatMap((wait) => (wait.status === "rejected" ? [(wait.reason as Error).message] : []));
}

/** Waits until every job has ended; the checks find the others. */
async function waitForRest({ patientClient: client }: ChaosStack): Promise<void> {
  const isOpen = async (state: "queued" | "leased") =>
    (await client.call(endpoints.listJobs, { query: { state, limit: 1 } })).items.length > 0;
  for (const endMs = performance.now() + REST_MS; performance.now() < endMs; await delay(200)) {
    if (!(await isOpen("queued")) && !(await isOpen("leased"))) return;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1e3).toFixed(1).padStart(6)} s`;
}
