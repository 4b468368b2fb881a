import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { KERNELS } from "../../../kernels/registry.ts";
import { CaseSpeeds, medianMs, type SizedCase } from "./case-speed.ts";
import type { Check, Part, SuiteContext } from "./check.ts";
import { type Finding, runCheck } from "./run-check.ts";
import { SPEED_CASES, type SpeedCase } from "./speed-cases.ts";

const PART = "torch";
const PROGRAM_CHECK = "PyTorch";
const PROGRAM = new URL("torch-peer.py", import.meta.url);
/** Time until the program has loaded PyTorch and opened its device. */
const START_LIMIT_MS = 60_000;
/** Time of the whole program, and its share of a check that measures a case of ours as well. */
const PROGRAM_LIMIT_MS = 180_000;
const CASE_LIMIT_MS = 70_000;
const ERROR_TAIL = 2_000;

/** First line of the program. */
const Greeting = z.union([
  z.object({ missing: z.string() }),
  z.object({ torch: z.string(), cuda: z.string(), device: z.string() }),
]);
const Measured = z.object({
  name: z.string(),
  mode: z.string(),
  way: z.string(),
  p50Ms: z.number().positive(),
  calls: z.number(),
  rounds: z.number(),
  relativeError: z.number().optional(),
});
type Measured = z.infer<typeof Measured>;
const Row = z.union([Measured, z.object({ name: z.string(), mode: z.string(), error: z.string() })]);
type Row = z.infer<typeof Row>;

/** Kernels that PyTorch computes with rounded factors, too, where it may. */
const PRODUCTS: ReadonlySet<string> = new Set(["gemm", "batched-gemm", "conv2d", "attention"]);

/** A size for PyTorch; one without a kernel of ours stands alone. */
interface PeerSize {
  readonly name: string;
  readonly kernel: string;
  readonly shape: Readonly<Record<string, number>>;
}

/** The same with those of the modes "fp32" and "tf32" that are wanted. */
interface PeerCase extends PeerSize {
  readonly modes: readonly string[];
}

/** Scores, softmax and weighted sum of 8 sequences of 512 places, which we have no one kernel for. */
const ATTENTION: PeerSize = {
  name: "attention 8×12×512×64",
  kernel: "attention",
  shape: { batch: 8, heads: 12, places: 512, size: 64 },
};

export interface TorchOptions {
  readonly cases?: readonly SpeedCase[];
  /** Python with PyTorch. */
  readonly python?: string;
  readonly device?: "cuda" | "cpu";
}

/**
 * The sizes of the part "speed" by PyTorch on the same machine, in float32 and with products in TF32, beside our tuned
 * kernels. Skipped where `python3` has no PyTorch or that finds no CUDA device.
 */
export function createTorchPart({ cases = SPEED_CASES, python = "python3", device = "cuda" }: TorchOptions = {}): Part {
  return async function* torch(context) {
    const wantedModes = ({ name, kernel }: PeerSize) => {
      const modes = device === "cuda" && PRODUCTS.has(kernel) ? ["fp32", "tf32"] : ["fp32"];
      return modes.filter((mode) => !context.done(keyOf({ name, mode })));
    };
    const peers = [...cases, ...(device === "cuda" ? [ATTENTION] : [])].flatMap((size): PeerCase[] => {
      const { name, kernel, shape } = size;
      const modes = wantedModes(size);
      return modes.length === 0 ? [] : [{ name, kernel, shape, modes }];
    });
    // Asked after the rows, since each of them is to be asked for.
    if (peers.length === 0 && context.done(PROGRAM_CHECK)) return;
    const sized = new Map<string, SizedCase>();
    const rows: Row[] = [];
    const limitMs = START_LIMIT_MS + PROGRAM_LIMIT_MS;
    // Made whatever an earlier suite has: without it there are no rows.
    const program = await runCheck({ part: PART, name: PROGRAM_CHECK, limitMs }, context, async (signal) => {
      for (const each of cases.filter(({ name }) => peers.some((peer) => peer.name === name))) {
        sized.set(each.name, await CaseSpeeds.of(context.host).size(each, signal));
      }
      const fitted = peers.map((peer) => ({ ...peer, shape: sized.get(peer.name)?.shape ?? peer.shape }));
      return runProgram({ python, device }, fitted, rows, signal);
    });
    yield program;
    for (const [key, same] of Map.groupBy(rows, keyOf)) {
      yield await checkRows(context, key, same, sized.get(same[0]!.name));
    }
  };
}

/** Name of the check of a row. */
function keyOf({ name, mode }: { readonly name: string; readonly mode: string }): string {
  return `${name} ${mode}`;
}

/** One case in one mode: PyTorch's fastest row beside our tuned kernel. */
function checkRows(
  context: SuiteContext,
  name: string,
  rows: readonly Row[],
  sized: SizedCase | undefined,
): Promise<Check> {
  return runCheck({ part: PART, name, limitMs: CASE_LIMIT_MS }, context, async (signal): Promise<Finding> => {
    const measured = rows.filter((row) => "p50Ms" in row).toSorted((a, b) => a.p50Ms - b.p50Ms)[0];
    if (measured === undefined) {
      const failed = rows.find((row) => "error" in row);
      return { skipped: `PyTorch: ${failed?.error ?? "no time"}` };
    }
    const figures = describePeer(measured, sized);
    if (sized === undefined) return { figures };
    const ours = await CaseSpeeds.of(context.host).tuned(sized, signal);
    const oursP50Ms = medianMs(ours.measured);
    const { variant, clock } = ours.measured;
    return { figures: { ...figures, oursP50Ms, oursOverTorch: measured.p50Ms / oursP50Ms, variant, clock } };
  });
}

function describePeer({ p50Ms, way, relativeError, calls }: Measured, sized: SizedCase | undefined) {
  const spec = sized === undefined ? undefined : KERNELS.get(sized.kernel);
  const flops = spec?.flops(sized!.shape) ?? 0;
  return {
    torchP50Ms: p50Ms,
    ...(flops > 0 && { torchGflops: flops / p50Ms / 1e6 }),
    ...(spec !== undefined && { torchGigabytesPerSecond: spec.bytes(sized!.shape) / p50Ms / 1e6 }),
    ...(relativeError !== undefined && { torchRelativeError: relativeError }),
    torchWay: way,
    torchCalls: calls,
    shape: sized === undefined ? "as named" : JSON.stringify(sized.shape),
  };
}

/** Runs the program to its end and adds its rows, also those before a failure. */
async function runProgram(
  { python, device }: { readonly python: string; readonly device: string },
  cases: readonly PeerCase[],
  rows: Row[],
  signal: AbortSignal,
): Promise<Finding> {
  const child = spawn(python, [fileURLToPath(PROGRAM), "--device", device], { stdio: "pipe" });
  const end = () => child.kill("SIGKILL");
  let isTooSlow = false;
  const starting = setTimeout(() => {
    isTooSlow = true;
    end();
  }, START_LIMIT_MS);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await readRows(child, cases, rows, () => clearTimeout(starting));
  } catch (error) {
    if (isTooSlow) throw new Error(`It did not start within ${START_LIMIT_MS} ms.`, { cause: error });
    throw error;
  } finally {
    end();
    clearTimeout(starting);
    signal.removeEventListener("abort", end);
  }
}

async function readRows(
  child: ChildProcess & { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream },
  cases: readonly PeerCase[],
  rows: Row[],
  onStart: () => void,
): Promise<Finding> {
  let errors = "";
  let failure: Error | null = null;
  child.on("error", (error) => (failure = error));
  child.stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-ERROR_TAIL)));
  // A program that ended reads nothing.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify({ cases }));
  const closed = once(child, "close").catch(() => [null, null]);
  let greeting: z.infer<typeof Greeting> | null = null;
  for await (const line of createInterface({ input: child.stdout })) {
    if (greeting === null) {
      greeting = Greeting.parse(JSON.parse(line));
      onStart();
    } else rows.push(Row.parse(JSON.parse(line)));
  }
  const [code, killedBy] = (await closed) as [number | null, string | null];
  if (failure !== null) return { skipped: `There is no Python here: ${(failure as Error).message}` };
  if (greeting !== null && "missing" in greeting) return { skipped: greeting.missing };
  if (code !== 0 || greeting === null) {
    throw new Error(`It ended with ${killedBy ?? `code ${code}`} after ${rows.length} rows. ${errors.trim()}`);
  }
  return { figures: { ...greeting, rows: rows.length } };
}
