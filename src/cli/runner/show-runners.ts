import { Command } from "commander";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Diagnosis } from "../../protocol/fleet/health.ts";
import type { MeasuredBatches, Runner, RunnerDetail } from "../../protocol/fleet/runner.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import {
  CHECK_OUTCOMES,
  CHECKS,
  EPHEMERAL,
  formatQuantity,
  isConnected,
  markSoftware,
  nameDevice,
  orderChecks,
  RUNNER_TONES,
  SOFTWARE,
} from "../../words/runners.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { formatAge, formatSize, TERMINAL } from "../render/format-values.ts";
import { paint, renderFacts, renderTable } from "../render/render-table.ts";
import type { Shell } from "../shell/shell.ts";
import { findRunnerId, listRunners } from "./find-runner.ts";

/** `millrace runner list`: every runner of the edge. */
export function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope read")
    .description("List runners, newest first")
    .action(async (options: EdgeOptions) => {
      const runners = await listRunners(await openEdge(options, shell));
      if (options.json) return shell.print(`${JSON.stringify(runners)}\n`);
      if (runners.length === 0)
        return shell.print("No runner yet: millrace runner start --edge <url> --token <token>\n");
      const rows = runners.map((each) => [
        describeState(each),
        each.name,
        describeDevices(each),
        describeProject(each),
        formatAge(each.lastSeenAt),
        each.id,
      ]);
      const table = renderTable(
        [["state", "name", "devices", "project", "seen", "id"], ...rows],
        shell.columns,
        (text, row, column) =>
          column === 0 && row > 0 ? paint(shell, RUNNER_TONES[runners[row - 1]?.state ?? "offline"], text) : text,
      );
      shell.print(table);
    });
}

function describeState({ state, quarantine, ephemeral }: Runner): string {
  return [state, ...(quarantine === null ? [] : ["quarantine"]), ...(ephemeral ? ["ephemeral"] : [])].join(", ");
}

/** Owner of a runner, and whether it is shared. */
function describeProject({ owned, shared }: Runner): string {
  if (!owned) return "another's";
  return shared ? "ours, shared" : "ours";
}

function describeDevices({ capabilities }: Runner): string {
  if (capabilities === null) return "–";
  return capabilities.devices.map(({ key, name, software }) => `${key} ${markSoftware(name, software)}`).join(", ");
}

/** A runner and its diagnosis; null if it never sent one, or belongs to another project. */
interface Status {
  readonly runner: RunnerDetail;
  readonly diagnosis: Diagnosis | null;
}

/** `millrace runner status`: how a runner is, or each that is online: what is measured, what to change. */
export function statusCommand(shell: Shell): Command {
  return addEdge(new Command("status"), "scope read")
    .description("Ask a runner how it is, or each that is online")
    .argument("[runner]", "name or id")
    .action(async (wanted: string | undefined, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const ids = wanted === undefined ? await onlineIds(client) : [await findRunnerId(client, wanted)];
      const all = await Promise.all(ids.map((id) => readStatus(client, id)));
      if (options.json) return shell.print(`${JSON.stringify(wanted === undefined ? all : all[0])}\n`);
      if (all.length === 0) return shell.print("No runner is online: see `millrace runner list`.\n");
      shell.print(all.map((status) => renderStatus(status, shell)).join("\n"));
    });
}

async function onlineIds(client: Client): Promise<string[]> {
  const runners = await listRunners(client);
  return runners.filter(isConnected).map(({ id }) => id);
}

async function readStatus(client: Client, id: string): Promise<Status> {
  const runner = await client.call(endpoints.getRunner, { params: { id } });
  if (!runner.owned) return { runner, diagnosis: null };
  const diagnosis = await client.call(endpoints.getRunnerDiagnosis, { params: { id } }).catch((error: unknown) => {
    // That it is not there is its status, and no failure of the question.
    if (error instanceof ProblemError && error.problem.code === "runner-offline") return null;
    throw error;
  });
  return { runner, diagnosis };
}

function renderStatus({ runner, diagnosis }: Status, shell: Shell): string {
  const { name, id, state, ephemeral, capabilities, lastSeenAt, batches = [] } = runner;
  const devices = (capabilities?.devices ?? []).map(
    ({ key, name: device, software, memoryBytes, board }): [string, string] => [
      "device",
      `${markSoftware(nameDevice({ key, name: device, pciAddress: board?.pciAddress }), software, SOFTWARE)}${memoryBytes === null ? "" : `, ${formatSize(memoryBytes)}`}`,
    ],
  );
  const told = diagnosis === null ? silence(runner) : `told ${formatAge(diagnosis.reportedAt)}`;
  const facts = renderFacts([
    ["state", `${paint(shell, RUNNER_TONES[state], state)}, seen ${formatAge(lastSeenAt)}, ${told}`],
    ...(ephemeral ? [["ephemeral", EPHEMERAL] as const] : []),
    ...devices,
  ]);
  const checks = diagnosis === null ? "" : renderChecks(diagnosis, shell);
  return `${paint(shell, "busy", name)} ${id}\n${facts}${renderBatches(batches, shell)}${checks}`;
}

/** Each placement's smallest and fastest batch, with its memory. */
function renderBatches(measured: readonly MeasuredBatches[], shell: Shell): string {
  if (measured.length === 0) return "";
  const rows = measured.flatMap(({ subject, batches }) => {
    const fastest = batches.reduce((best, each) => (each.rowsPerSecond > best.rowsPerSecond ? each : best));
    return [...new Set([batches[0]!, fastest])].map(({ rows: size, medianMs, rowsPerSecond, memoryBytes }) => [
      subject,
      String(size),
      TERMINAL.measure(medianMs, "ms"),
      TERMINAL.number(rowsPerSecond),
      memoryBytes === null ? "–" : formatSize(memoryBytes),
    ]);
  });
  return renderTable([["placement", "batch", "median", "rows/s", "memory"], ...rows], shell.columns);
}

function silence({ owned }: Runner): string {
  return owned ? "it told nothing yet" : "shared by another project, whom alone it tells how it is";
}

function renderChecks({ checks: unordered, findings }: Diagnosis, shell: Shell): string {
  const checks = orderChecks(unordered);
  const rows = checks.map(({ outcome, check, deviceKey, measured, limit, unit, detail }) => [
    CHECK_OUTCOMES[outcome][1],
    CHECKS[check],
    deviceKey ?? "–",
    formatQuantity(measured, unit, TERMINAL),
    formatQuantity(limit, unit, TERMINAL),
    detail,
  ]);
  const table = renderTable(
    [["", "check", "device", "measured", "limit", ""], ...rows],
    shell.columns,
    (text, row, column) =>
      column === 0 && row > 0 ? paint(shell, CHECK_OUTCOMES[checks[row - 1]?.outcome ?? "unknown"][0], text) : text,
  );
  const advice = [...checks.filter(({ outcome }) => outcome === "fail"), ...findings].flatMap(
    (each) => each.advice ?? [],
  );
  return `${table}${renderFacts([...new Set(advice)].map((line) => ["do", line] as const))}`;
}
