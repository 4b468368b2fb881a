import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { examine } from "./examine.ts";
import { type Patient, renderFindings } from "./finding.ts";
import { addEdge, type EdgeOptions, findEdge } from "../options/edge-options.ts";
import { wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface DoctorOptions extends EdgeOptions {
  readonly dataDir: string;
  readonly runnerDir?: string;
  readonly port: number;
}

/** `millrace doctor`: what is wrong with this machine and its way to an edge, and what to do about it. */
export function doctorCommand(
  shell: Shell = PROCESS,
  { isPacked = false }: Partial<Pick<Patient, "isPacked">> = {},
): Command {
  return addEdge(new Command("doctor"), "scopes that shall be told")
    .description(
      "Say what is wrong here and what to do: Node, driver, Vulkan, disk, network, clock, key; exit 1 if something is",
    )
    .option("--data-dir <folder>", "where `millrace up` keeps everything", ".millrace")
    .option("--runner-dir <folder>", "where a runner keeps its credential (MILLRACE_RUNNER_DIR)")
    .option("--port <number>", "where `millrace up` would listen", wholeBetween(1, 65_535), 8787)
    .action(async (options: DoctorOptions) => {
      const findings = await examine(await describePatient(options, isPacked, shell));
      const isWell = findings.every(({ state }) => state !== "failure");
      shell.print(options.json ? `${JSON.stringify({ ok: isWell, findings })}\n` : renderFindings(findings));
      shell.exit(isWell ? 0 : 1);
    });
}

async function describePatient(options: DoctorOptions, isPacked: boolean, shell: Shell): Promise<Patient> {
  const dataDir = resolve(shell.folder, options.dataDir);
  const { edge, key } = await findEdge(options, shell, join(dataDir, "admin.key"));
  return {
    fetch: shell.fetch,
    environment: shell.env,
    root: join(import.meta.dirname, "../../.."),
    isPacked,
    edgeUrl: edge,
    key: key ?? null,
    port: options.port,
    dataDir,
    runnerDir: resolve(
      shell.folder,
      options.runnerDir ?? shell.env["MILLRACE_RUNNER_DIR"] ?? (await findRunnerDir(dataDir)),
    ),
  };
}

/** The local runner's where there is one, else that of a runner by itself. */
async function findRunnerDir(dataDir: string): Promise<string> {
  const local = join(dataDir, "runner");
  return access(local).then(
    () => local,
    () => join(homedir(), ".millrace/runner"),
  );
}
