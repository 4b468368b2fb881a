import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import type { KernelInput, ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { concludeJob } from "../jobs/submit-job.ts";
import { watchJob } from "../jobs/watch-job.ts";
import { benchmarkCommand } from "./bench-command.ts";
import { listKernels } from "./find-kernel.ts";
import { readJson } from "../shell/read-json.ts";
import { KERNEL_STATES } from "../../words/kernels.ts";
import { writeSizes } from "../../words/numbers.ts";
import { renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface PushOptions extends EdgeOptions {
  readonly detach: boolean;
}

/** `millrace kernels`: what runners can run, and kernels of one's own. */
export function kernelsCommand(shell: Shell = PROCESS): Command {
  return new Command("kernels")
    .description("List kernels, submit one in WGSL, and run one")
    .addCommand(listCommand(shell))
    .addCommand(pushCommand(shell))
    .addCommand(benchmarkCommand("run", shell));
}

function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope read")
    .description("List the kernels that runners announce, then the submitted ones")
    .action(async (options: EdgeOptions) => {
      const kernels = await listKernels(await openEdge(options, shell));
      if (options.json) return shell.print(`${JSON.stringify(kernels)}\n`);
      if (kernels.length === 0) return shell.print("No kernel: no runner has connected yet.\n");
      const rows = kernels.map((kernel) => [
        kernel.name,
        kernel.state === undefined ? kernel.source : KERNEL_STATES[kernel.state][1],
        defaultShape(kernel),
        kernel.dtypes.join(", "),
        kernel.variants.join(", "),
        kernel.id ?? "",
      ]);
      shell.print(renderTable([["name", "state", "shape", "types", "variants", "id"], ...rows], shell.columns));
    });
}

function pushCommand(shell: Shell): Command {
  return addEdge(new Command("push"), "scope submit")
    .description("Submit a kernel as JSON, and follow the run that checks it")
    .argument("<file>", "a submission, as docs/guides/writing-a-kernel.md describes it; - is standard input")
    .option("--detach", "do not wait for the check", false)
    .action(async (file: string, options: PushOptions) => shell.exit(await push(file, options, shell)));
}

async function push(file: string, { detach, json, ...choice }: PushOptions, shell: Shell): Promise<number> {
  const value = await readJson(file, shell);
  const client = await openEdge(choice, shell);
  // The edge checks it, and names each field that is wrong.
  const kernel = await client.call(endpoints.submitKernel, { body: value as KernelInput });
  if (!json) shell.print(`${kernel.id}\n`);
  if (kernel.checkJobId !== null && !detach) {
    const job = await watchJob(client, kernel.checkJobId, shell, { json });
    const code = concludeJob(job, json ? { ...shell, print: () => {} } : shell, json);
    if (code !== 0) return code;
  }
  if (json) shell.print(`${JSON.stringify(await client.call(endpoints.getKernel, { params: { id: kernel.id } }))}\n`);
  return 0;
}

function defaultShape({ dimensions }: ListedKernel): string {
  return writeSizes(Object.fromEntries(dimensions.map((each) => [each.name, each.default])));
}
