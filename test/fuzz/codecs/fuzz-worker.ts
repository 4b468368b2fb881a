import { parentPort, workerData } from "node:worker_threads";
import * as fc from "fast-check";
import { CODEC_TARGETS } from "./codec-targets.ts";
import { SharedInput } from "./shared-input.ts";

/** Memory that an input may need beyond itself, while it is read. */
const MOST_BYTES = 96 * 2 ** 20;

/** Inputs of one target, by a seed. */
export interface FuzzBatch {
  readonly target: string;
  readonly runs: number;
  readonly seed: number;
}

export interface BatchOutcome {
  readonly runs: number;
  /** The smallest input that fails like the first that did, as hex, and why; null where all went well. */
  readonly failure: { readonly input: string; readonly error: string } | null;
}

const current = new SharedInput(workerData as SharedArrayBuffer);

/** Publishes the input before reading it: if it hangs or ends the process, it is known. */
async function tryInput(check: (input: Uint8Array) => void | Promise<void>, input: Uint8Array): Promise<void> {
  current.tell(input);
  const before = process.memoryUsage();
  await check(input);
  const after = process.memoryUsage();
  const taken = after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
  if (taken > MOST_BYTES + 64 * input.length) throw new Error(`${input.length} bytes took ${taken} bytes of memory`);
}

async function runBatch({ target: name, runs, seed }: FuzzBatch): Promise<BatchOutcome> {
  const target = CODEC_TARGETS.get(name);
  if (target === undefined) throw new Error(`there is no target ${name}`);
  const property = fc.asyncProperty(target.inputs, (input) => tryInput(target.check, input));
  const { failed, numRuns, counterexample, errorInstance } = await fc.check(property, { seed, numRuns: runs });
  if (!failed) return { runs: numRuns, failure: null };
  const input = Buffer.from(counterexample?.[0] ?? new Uint8Array()).toString("hex");
  const error = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  return { runs: numRuns, failure: { input, error } };
}

parentPort?.on(
  "message",
  (batch: FuzzBatch) => void runBatch(batch).then((outcome) => parentPort?.postMessage(outcome, [])),
);
