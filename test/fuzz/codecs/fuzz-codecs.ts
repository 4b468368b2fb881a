import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { CODEC_TARGETS } from "./codec-targets.ts";
import type { BatchOutcome, FuzzBatch } from "./fuzz-worker.ts";
import { SharedInput } from "./shared-input.ts";

/** Inputs that are made by one seed. */
const BATCH = 5_000;
/** Time at one input after which a reader hangs, however slow the machine is. */
const HANG_MS = 60_000;
const WATCH_MS = 1_000;
/** Heap of a thread: the garbage of a whole batch has to fit, too. */
const HEAP_MIB = 1_024;

export interface CodecFinding {
  readonly target: string;
  readonly seed: number;
  readonly what: string;
  /** The shrunk input, or the one that was not done with, as hex. */
  readonly input: string;
}

export interface CodecOutcome {
  readonly inputs: number;
  readonly seconds: number;
  readonly byTarget: Readonly<Record<string, number>>;
  readonly findings: readonly CodecFinding[];
}

export interface CodecWish {
  readonly seed: number;
  /** Names of readers; empty for all. */
  readonly only: readonly string[];
  readonly say: (text: string) => void;
}

/** Gives every reader its share of the inputs, in a thread that is ended where it hangs. */
export async function fuzzCodecs(inputs: number, { seed, only, say }: CodecWish): Promise<CodecOutcome> {
  const targets = [...CODEC_TARGETS.values()].filter(({ name }) => only.length === 0 || only.includes(name));
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const byTarget: Record<string, number> = {};
  const findings: CodecFinding[] = [];
  const startedMs = performance.now();
  const watched = new WatchedThread();
  for (const { name, weight } of targets) {
    const share = Math.ceil((inputs * weight) / weights);
    byTarget[name] = 0;
    for (let done = 0; done < share; done += BATCH) {
      const batch = { target: name, runs: Math.min(BATCH, share - done), seed: seed + done };
      const { runs, failure } = await watched.run(batch);
      byTarget[name] += runs;
      if (failure === null) continue;
      findings.push({ target: name, seed: batch.seed, what: failure.error, input: failure.input });
      break;
    }
    say(`${name}: ${byTarget[name]} inputs`);
  }
  await watched.end();
  const seconds = (performance.now() - startedMs) / 1_000;
  return { inputs: Object.values(byTarget).reduce((sum, count) => sum + count, 0), seconds, byTarget, findings };
}

/** A thread that reads batches; one that hangs or ends is reported, and the next batch has a new one. */
class WatchedThread {
  readonly #buffer = SharedInput.create();
  readonly #current = new SharedInput(this.#buffer);
  #worker: Worker | null = null;

  async run(batch: FuzzBatch): Promise<BatchOutcome> {
    this.#worker ??= new Worker(new URL("fuzz-worker.ts", import.meta.url), {
      workerData: this.#buffer,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    const worker = this.#worker;
    const before = this.#current.count;
    const over = new AbortController();
    worker.postMessage(batch, []);
    const fail = async (why: string): Promise<BatchOutcome> => {
      this.#worker = null;
      await worker.terminate();
      const input = Buffer.from(this.#current.input).toString("hex");
      return { runs: this.#current.count - before, failure: { input, error: why } };
    };
    try {
      return await Promise.race([
        once(worker, "message", { signal: over.signal }).then(([outcome]) => outcome as BatchOutcome),
        once(worker, "exit", { signal: over.signal }).then(() => fail("the thread ended")),
        this.#watch(over.signal).then(() => fail(`no answer in ${HANG_MS} ms`)),
      ]);
    } catch (error) {
      return await fail(String(error));
    } finally {
      over.abort();
    }
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Resolves once the thread is at one input for too long; until it is at the first, its readers are loaded. */
  #watch(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#current.count;
      let seen = { count: before, sinceMs: performance.now() };
      const timer = setInterval(() => {
        const { count } = this.#current;
        if (count !== seen.count || count === before) seen = { count, sinceMs: performance.now() };
        else if (performance.now() - seen.sinceMs > HANG_MS) resolve();
      }, WATCH_MS);
      signal.addEventListener("abort", () => clearInterval(timer));
    });
  }
}
