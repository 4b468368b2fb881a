/** Compiles a fuzzer's WGSL on this process's GPU, like submitted kernels; forked by fuzz-wgsl.ts. */
import * as fc from "fast-check";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { withErrorScopes } from "../../../src/gpu-runner/devices/gpu/error-scopes.ts";
import { compileModule } from "../../../src/gpu-runner/devices/gpu/kernel-loader.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { wgslPrograms } from "./wgsl-programs.ts";

export interface WgslBatch {
  readonly runs: number;
  readonly seed: number;
}

export type WgslReply =
  /** Sent before it is compiled, so that the program at which a process ended or hung is known. */
  | { readonly type: "at"; readonly code: string }
  | {
      readonly type: "done";
      readonly runs: number;
      /** Number of them that the device accepts. */
      readonly compiled: number;
      readonly failure: { readonly code: string; readonly error: string } | null;
      readonly residentBytes: number;
    };

const ENTRY_POINT = /@compute[^;{}]*?\bfn\s+([A-Za-z]\w*)/;
const gpu = await openGpu((reason) => {
  console.error(`the device was lost: ${reason}`);
  process.exit(1);
});
let compiled = 0;

function send(reply: WgslReply): Promise<void> {
  return new Promise((resolve) => process.send?.(reply, () => resolve()));
}

/** Throws where the outcome is neither a pipeline nor `kernel-invalid`. */
async function compile(code: string): Promise<void> {
  await send({ type: "at", code });
  const entryPoint = ENTRY_POINT.exec(code)?.[1];
  try {
    const module = await compileModule(gpu.device, "fuzz", code);
    const compute = { module, ...(entryPoint !== undefined && { entryPoint }) };
    await withErrorScopes(gpu.device, () =>
      gpu.device.createComputePipelineAsync({ layout: "auto", compute }).catch((error: Error) => {
        throw new ProblemError("kernel-invalid", error.message);
      }),
    );
    compiled++;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "kernel-invalid") throw error;
  }
  gpu.throwUncaptured();
}

async function runBatch({ runs, seed }: WgslBatch): Promise<WgslReply> {
  compiled = 0;
  const property = fc.asyncProperty(wgslPrograms, compile);
  const { failed, numRuns, counterexample, errorInstance } = await fc.check(property, { seed, numRuns: runs });
  const failure = failed ? { code: counterexample?.[0] ?? "", error: String(errorInstance) } : null;
  return { type: "done", runs: numRuns, compiled, failure, residentBytes: process.memoryUsage.rss() };
}

process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", (batch: WgslBatch) => void runBatch(batch).then(send));
