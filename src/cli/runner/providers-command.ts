import { join } from "node:path";
import { Command } from "commander";
import { runInPlace } from "../shell/run-in-place.ts";

interface ProviderOptions {
  readonly dataDir?: string;
  readonly cuda?: string;
  readonly from?: string;
  readonly sha256?: string;
  readonly json: boolean;
}

/** `millrace runner providers`: ONNX Runtime's providers on this machine's GPUs. */
export function providersCommand(): Command {
  return new Command("providers")
    .description("Show ONNX Runtime's providers on this machine's GPUs, and install what npm does not bring")
    .addCommand(addOwn("list", "Show each provider: how it comes, whether it works, and what is missing"), {
      isDefault: true,
    })
    .addCommand(
      addOwn("install", "Fetch and check the libraries of a provider")
        .argument("<provider>", "cuda")
        .option("--cuda <12|13>", "major version of CUDA on this machine (default: 13)")
        .option("--from <path>", "folder, wheel, NuGet package or tarball (default: from where it is published)")
        .option("--sha256 <hex>", "digest of that file, or with a comma those of both libraries in that folder"),
    )
    .addCommand(addOwn("remove", "Remove the libraries of a provider").argument("<provider>", "cuda"));
}

function addOwn(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--data-dir <folder>", "the runner's folder (default: ~/.millrace/runner)")
    .option("--json", "print JSON", false)
    .action((...args: unknown[]) => {
      const command = args.at(-1) as Command;
      runProgram(name, command.args, command.opts<ProviderOptions>());
    });
}

/** Drivers crash, and the libraries are the runner's: a program of its own does it. */
function runProgram(name: string, given: readonly string[], { dataDir, json, ...options }: ProviderOptions): void {
  const named = Object.entries({ ...options, "data-dir": dataDir });
  const args = named.flatMap(([option, value]) => (value === undefined ? [] : [`--${option}=${value}`]));
  const program = join(import.meta.dirname, "../../gpu-runner/providers/main.ts");
  runInPlace(program, [name, ...given, ...args, ...(json ? ["--json"] : [])]);
}
