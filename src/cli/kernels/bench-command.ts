import { Command } from "commander";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { addJob, type JobOptions, submitJob, targetOf } from "../jobs/submit-job.ts";
import { benchmark } from "../../words/kinds/benchmark.ts";
import { openEdge } from "../options/edge-options.ts";
import { shapeOption, wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { findKernel } from "./find-kernel.ts";

interface BenchOptions extends JobOptions {
  readonly shape: Readonly<Record<string, number>>;
  readonly iterations?: number;
  readonly variant?: string;
  readonly device?: string;
}

/** A command that benchmarks a kernel: its outputs are checked, then it is timed. */
export function benchmarkCommand(name: string, shell: Shell): Command {
  return addJob(new Command(name))
    .description("Benchmark a kernel: its outputs are checked against its reference, then it is timed")
    .argument("<kernel>", "name of an announced kernel, name or id of a submitted one")
    .option("--shape <sizes>", "such as n=1000000,m=64 (default: the kernel's)", shapeOption, {})
    .option("--iterations <n>", "timed runs (default: 100)", wholeBetween(1, LIMITS.maxIterations))
    .option("--variant <name>", "of the kernel (default: the tuned one)")
    .option("--device <key>", "of the runner, such as gpu0")
    .action(async (wanted: string, options: BenchOptions) => {
      const { shape, iterations, variant, device } = options;
      const client = await openEdge(options, shell);
      const body = {
        kind: benchmark.kind,
        ...(await findKernel(client, wanted)),
        shape,
        ...(iterations !== undefined && { iterations }),
        ...(variant !== undefined && { variant }),
        ...(device !== undefined && { deviceKey: device }),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}

/** `millrace bench`: one kernel, checked and timed on a runner. */
export function benchCommand(shell: Shell = PROCESS): Command {
  return benchmarkCommand("bench", shell);
}
