import { setTimeout as delay } from "node:timers/promises";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import type { Job, JobInput } from "../../../src/protocol/jobs/job.ts";
import type { ChaosStack } from "../chaos-stack.ts";
import type { AcceptedJob, Ledger } from "../promises/ledger.ts";

const POLL_MS = 300;
const AGAIN_MS = 500;

/** Jobs of each lane, requested again and again, one after the other. */
const LANES: readonly ((count: number) => Record<string, unknown>)[] = [
  (count) => ({ kind: "benchmark", kernel: "gemm", shape: { m: 64 + (count % 4), n: 64, k: 64 }, iterations: 5 }),
  (count) => ({ kind: "benchmark", kernel: "reduce", shape: { n: 4_096 + count }, iterations: 20 }),
  () => ({ kind: "evaluation", environment: "cartpole", policies: ["cartpole"], episodes: 20, backend: "cpu-simd" }),
];
/** Intervals of jobs with a key that are sent twice at once, and of jobs that are cancelled at once. */
const KEYED_EVERY = 2;
const CANCELLED_EVERY = 7;

/** Submits jobs, each lane one after the other, until the signal. */
export async function submitJobs(stack: ChaosStack, ledger: Ledger, signal: AbortSignal): Promise<void> {
  await Promise.all(
    LANES.map(async (toInput, lane) => {
      for (let count = 0; !signal.aborted; count++) {
        const label = `lane-${lane}-${count}`;
        const isKeyed = count % KEYED_EVERY === 0;
        const body = { ...toInput(count), label } as JobInput;
        const accepted = await submit(stack, ledger, { body, label, key: isKeyed ? label : null, signal });
        if (accepted === null) continue;
        ledger.jobs.push(accepted);
        if (count % CANCELLED_EVERY === CANCELLED_EVERY - 1) await cancel(stack, accepted);
        await watch(stack, accepted, signal);
      }
    }),
  );
}

interface Submission {
  readonly body: JobInput;
  readonly label: string;
  readonly key: string | null;
  readonly signal: AbortSignal;
}

/** Null where it was not accepted, as far as is known: without a key it is not sent again. */
async function submit({ client }: ChaosStack, ledger: Ledger, submission: Submission): Promise<AcceptedJob | null> {
  const { body, label, key, signal } = submission;
  const send = async (): Promise<Job | null> => {
    ledger.submissions++;
    const headers = key === null ? {} : { "idempotency-key": key };
    return client.call(endpoints.createJob, { body, headers }).catch(() => null);
  };
  while (!signal.aborted) {
    const seen = key === null ? [await send()] : await Promise.all([send(), send()]);
    const [first, ...others] = seen.filter((job) => job !== null);
    if (first !== undefined && others.some(({ id }) => id !== first.id)) ledger.doubled.push(label);
    if (first !== undefined) return { id: first.id, label, isCancelled: false, succeededMs: null };
    await pause(AGAIN_MS, signal);
    if (key === null) return null;
  }
  return null;
}

async function cancel({ client }: ChaosStack, job: AcceptedJob): Promise<void> {
  job.isCancelled = true;
  await client.call(endpoints.cancelJob, { params: { id: job.id } }).catch(() => undefined);
}

/** Watches a job until it has ended, or the signal aborts. */
async function watch({ client }: ChaosStack, accepted: AcceptedJob, signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; await pause(POLL_MS, signal)) {
    const job = await client.call(endpoints.getJob, { params: { id: accepted.id } }).catch(() => null);
    if (job?.state === "succeeded") accepted.succeededMs = performance.now();
    if (job !== null && job.endedAt !== null) return;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
