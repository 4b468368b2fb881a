import { spawn } from "node:child_process";
import { join } from "node:path";
import { Command } from "commander";

interface StartOptions {
  readonly edge?: string;
  readonly token?: string;
  readonly dataDir?: string;
  readonly name?: string;
  readonly label: string[];
  readonly gpu?: string;
  readonly direct?: string;
  readonly json: boolean;
}

/** `millrace runner start`: registers this machine once, then serves its edge in the foreground. */
export function startCommand(): Command {
  return new Command("start")
    .description("Register this machine with a token (once), connect, and serve")
    .option("--edge <url>", "address of the edge; needed with --token")
    .option("--token <token>", "one-time registration token")
    .option("--data-dir <folder>", "where credential and artifacts are kept (default: ~/.millrace/runner)")
    .option("--name <name>", "name of this runner (default: the host's)")
    .option("--label <key=value...>", "labels of this runner", [])
    .option("--gpu <auto|none|list>", "which GPUs to use; a list is of `software` and of names (default: auto)")
    .option("--direct <[host:]port>", "take direct requests with tickets here (default: off)")
    .option("--json", "its log is lines of JSON already", false)
    .action(startRunner);
}

/** The runner is a program of its own, configured by its environment: a token is in no process list. */
function startRunner({ edge, token, dataDir, name, label, gpu, direct }: StartOptions): void {
  const settings = {
    MILLRACE_EDGE: edge,
    MILLRACE_TOKEN: token,
    MILLRACE_RUNNER_DIR: dataDir,
    MILLRACE_RUNNER_NAME: name,
    MILLRACE_LABELS: label.length > 0 ? label.join(",") : undefined,
    MILLRACE_GPU: gpu,
    MILLRACE_DIRECT: direct,
  };
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const program = join(import.meta.dirname, "../../gpu-runner/main.ts");
  const child = spawn(process.execPath, [program], { stdio: "inherit", env: { ...process.env, ...given } });
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code) => process.exit(code ?? 1));
}
