import { Command } from "commander";
import type { Runner } from "../../protocol/runner.ts";
import { addEdge, type EdgeOptions, openEdge } from "../edge-options.ts";
import { formatAge } from "../render/format-values.ts";
import { paint, type Tone } from "../render/paint.ts";
import { renderTable } from "../render/render-table.ts";
import type { Shell } from "../shell.ts";
import { listRunners } from "./find-runner.ts";

export const STATE_TONES: Record<Runner["state"], Tone> = {
  online: "good",
  draining: "doubtful",
  offline: "bad",
  registered: "faint",
};

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
        each.quarantine === null ? each.state : `${each.state}, quarantine`,
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
          column === 0 && row > 0 ? paint(shell, STATE_TONES[runners[row - 1]?.state ?? "offline"], text) : text,
      );
      shell.print(table);
    });
}

/** Whom it belongs to, and whether it works for others. */
function describeProject({ owned, shared }: Runner): string {
  if (!owned) return "another's";
  return shared ? "ours, shared" : "ours";
}

function describeDevices({ capabilities }: Runner): string {
  if (capabilities === null) return "–";
  return capabilities.devices
    .map(({ key, name, software }) => `${key} ${name}${software ? " (software)" : ""}`)
    .join(", ");
}
