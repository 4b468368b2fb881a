import { Command } from "commander";
import { join } from "node:path";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { describeSharing } from "../../words/runners.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { numberBetween } from "../options/option-values.ts";
import { runInPlace } from "../shell/run-in-place.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { findRunnerId } from "./find-runner.ts";
import { providersCommand } from "./providers-command.ts";
import { listCommand as runnerListCommand, statusCommand } from "./show-runners.ts";

interface StartOptions {
  readonly edge?: string;
  readonly token?: string;
  readonly dataDir?: string;
  readonly name?: string;
  readonly label: string[];
  readonly gpu?: string;
  readonly direct?: string;
  readonly ephemeral?: true;
  readonly duration?: number;
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
    .option("--ephemeral", "do one job, then remove this runner from the edge and exit; needs a --token each time")
    .option("--duration <s>", "with --ephemeral: work for so long instead of for one job", numberBetween(1, 86_400))
    .option("--json", "its log is lines of JSON already", false)
    .action(startRunner);
}

/** The runner is a program of its own, configured by its environment: a token is in no process list. */
function startRunner({ edge, token, dataDir, name, label, gpu, direct, ephemeral, duration }: StartOptions): void {
  if (duration !== undefined && ephemeral === undefined) {
    throw new ProblemError("invalid-request", "--duration needs --ephemeral: others work until they are stopped.");
  }
  const settings = {
    MILLRACE_EDGE: edge,
    MILLRACE_TOKEN: token,
    MILLRACE_RUNNER_DIR: dataDir,
    MILLRACE_RUNNER_NAME: name,
    MILLRACE_LABELS: label.length > 0 ? label.join(",") : undefined,
    MILLRACE_GPU: gpu,
    MILLRACE_DIRECT: direct,
    MILLRACE_EPHEMERAL: ephemeral && "on",
    MILLRACE_DURATION_MS: duration === undefined ? undefined : String(Math.round(duration * 1_000)),
  };
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const program = join(import.meta.dirname, "../../gpu-runner/main.ts");
  runInPlace(program, [], { ...process.env, ...given });
}

const tellState = ({ state }: Runner) => `is ${state}`;
const tellSharing = (runner: Runner) => `works for ${describeSharing(runner)}`;

const KINDS = {
  drain: [endpoints.drainRunner, "Let a runner finish what it has and take nothing new", tellState],
  resume: [endpoints.resumeRunner, "Give a drained runner work again", tellState],
  share: [endpoints.shareRunner, "Let a runner work for all projects", tellSharing],
  unshare: [endpoints.unshareRunner, "Let a runner work for its own project alone", tellSharing],
} as const;

/** `millrace runner drain`, `resume`, `share` and `unshare`. */
function setWorkCommand(kind: keyof typeof KINDS, shell: Shell): Command {
  const [endpoint, description, tell] = KINDS[kind];
  return addEdge(new Command(kind), "scope admin")
    .description(description)
    .argument("<runner>", "name or id")
    .action(async (wanted: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const runner = await client.call(endpoint, { params: { id: await findRunnerId(client, wanted) } });
      shell.print(options.json ? `${JSON.stringify(runner)}\n` : `${runner.name} ${tell(runner)}\n`);
    });
}

/** `millrace runner`: runs one here, and looks after those of an edge. */
export function runnerCommand(shell: Shell = PROCESS): Command {
  return new Command("runner")
    .description("Run a runner on this machine, and look after those of an edge")
    .addCommand(startCommand())
    .addCommand(runnerListCommand(shell))
    .addCommand(statusCommand(shell))
    .addCommand(providersCommand())
    .addCommand(setWorkCommand("drain", shell))
    .addCommand(setWorkCommand("resume", shell))
    .addCommand(setWorkCommand("share", shell))
    .addCommand(setWorkCommand("unshare", shell));
}
