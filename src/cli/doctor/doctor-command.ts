import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { examine, listChecks } from "./examine.ts";
import { type Installation, type Patient, renderFinding, renderVerdict } from "./finding.ts";
import { addEdge, type EdgeOptions, findEdge } from "../options/edge-options.ts";
import { wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface DoctorOptions extends EdgeOptions {
  readonly dataDir: string;
  readonly runnerDir?: string;
  readonly port: number;
  readonly only?: string;
}

/** `millrace doctor`: what is wrong with this machine and its way to an edge, and what to do about it. */
export function doctorCommand(shell: Shell = PROCESS, kind: Installation["kind"] = "checkout"): Command {
  const installation = { root: join(import.meta.dirname, "../../.."), kind };
  return addEdge(new Command("doctor"), "scopes that shall be told")
    .description(
      "Say what is wrong here and what to do: Node, driver, Vulkan, disk, network, clock, key; exit 1 if something is",
    )
    .option("--data-dir <folder>", "where `millrace up` keeps everything", ".millrace")
    .option("--runner-dir <folder>", "where a runner keeps its credential (MILLRACE_RUNNER_DIR)")
    .option("--port <number>", "where `millrace up` would listen", wholeBetween(1, 65_535), 8787)
    .option("--only <checks>", `some of the checks, with commas between: ${listChecks(installation).join(", ")}`)
    .action(async (options: DoctorOptions) => {
      const names = chooseChecks(options.only, listChecks(installation));
      const checks = examine(await describePatient(options, shell, installation), names);
      if (!options.json) for (const check of checks) shell.print(renderFinding(await check));
      const findings = await Promise.all(checks);
      const isWell = findings.every(({ state }) => state !== "failure");
      shell.print(options.json ? `${JSON.stringify({ ok: isWell, findings })}\n` : renderVerdict(findings));
      shell.exit(isWell ? 0 : 1);
    });
}

function chooseChecks(only: string | undefined, all: readonly string[]): readonly string[] {
  const names = only?.split(",").map((name) => name.trim()) ?? all;
  const wrong = names.find((name) => !all.includes(name));
  if (wrong === undefined) return names;
  throw new ProblemError("invalid-request", `--only: there is no check '${wrong}', but ${all.join(", ")}.`);
}

async function describePatient(options: DoctorOptions, shell: Shell, installation: Installation): Promise<Patient> {
  const dataDir = resolve(shell.folder, options.dataDir);
  const { edge, key } = await findEdge(options, shell, join(dataDir, "admin.key"));
  return {
    fetch: shell.fetch,
    environment: shell.env,
    installation,
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
