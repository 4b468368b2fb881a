import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installSoftwareGpu } from "../../../src/gpu-runner/devices/gpu/software-gpu.ts";
import type { WgslBatch, WgslReply } from "./wgsl-process.ts";

const CACHE_DIR = join(import.meta.dirname, "../../../node_modules/.cache/millrace");
const PROCESS = fileURLToPath(new URL("wgsl-process.ts", import.meta.url));

/** Programs that are made by one seed. */
const BATCH = 500;
/** A program is given up after it; a runner ends the process of a submitted kernel after its `timeoutMs`, 60 s at most. */
const HANG_MS = 60_000;

export interface WgslFinding {
  readonly seed: number;
  readonly what: string;
  readonly code: string;
}

export interface WgslOutcome {
  readonly programs: number;
  /** Number of them that became pipelines. */
  readonly compiled: number;
  readonly seconds: number;
  /** Memory of the process after its first batch, and after its last. */
  readonly bytesBefore: number | null;
  readonly bytesAfter: number | null;
  readonly findings: readonly WgslFinding[];
}

type Done = Extract<WgslReply, { type: "done" }>;

/** Has WGSL compiled on the software GPU: each program becomes a pipeline or is refused, and the process lives on. */
export async function fuzzWgsl(programs: number, seed: number, say: (text: string) => void): Promise<WgslOutcome> {
  const environment = { ...process.env, ...(await installSoftwareGpu(CACHE_DIR)) };
  const findings: WgslFinding[] = [];
  const startedMs = performance.now();
  const memory: number[] = [];
  let [done, compiled] = [0, 0];
  let child: ChildProcess | null = null;
  for (let from = 0; from < programs; from += BATCH) {
    child ??= fork(PROCESS, [], { env: environment, execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const batch = { runs: Math.min(BATCH, programs - from), seed: seed + from };
    const outcome = await runBatch(child, batch);
    if ("what" in outcome) {
      findings.push({ seed: batch.seed, ...outcome });
      child = null;
      continue;
    }
    done += outcome.runs;
    compiled += outcome.compiled;
    memory.push(outcome.residentBytes);
    const { failure } = outcome;
    if (failure !== null) findings.push({ seed: batch.seed, what: failure.error, code: failure.code });
    say(`wgsl: ${done} programs`);
  }
  child?.kill("SIGKILL");
  const [bytesBefore, bytesAfter] = [memory[0] ?? null, memory.at(-1) ?? null];
  const seconds = (performance.now() - startedMs) / 1e3;
  return { programs: done, compiled, seconds, bytesBefore, bytesAfter, findings };
}

/** Result of a batch; for a process that ended or hung, the program at fault. The process is ended then. */
async function runBatch(child: ChildProcess, batch: WgslBatch): Promise<Done | Omit<WgslFinding, "seed">> {
  const over = new AbortController();
  let code = "";
  try {
    return await new Promise((resolve) => {
      const give = (what: string) => {
        child.kill("SIGKILL");
        resolve({ what, code });
      };
      let watch = setTimeout(give, HANG_MS, "the process said nothing");
      const receive = (reply: WgslReply) => {
        clearTimeout(watch);
        if (reply.type === "done") return resolve(reply);
        code = reply.code;
        watch = setTimeout(give, HANG_MS, `not done in ${HANG_MS} ms`);
      };
      child.on("message", receive);
      once(child, "exit", { signal: over.signal }).then(
        ([exitCode, signal]) => give(`the process ended with ${exitCode ?? signal}`),
        () => {},
      );
      over.signal.addEventListener("abort", () => {
        clearTimeout(watch);
        child.off("message", receive);
      });
      child.send(batch);
    });
  } finally {
    over.abort();
  }
}
