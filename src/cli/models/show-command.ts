import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import type { LatestCalibration, Model, Placement } from "../../protocol/models/model.ts";
import { describeFidelity, describeVersion, listUnmeasured } from "../../words/models.ts";
import { formatShare } from "../../words/numbers.ts";
import { markSoftware } from "../../words/runners.ts";
import { OUTCOMES } from "../../words/validation.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { formatAge, formatSize, formatWith, TERMINAL } from "../render/format-values.ts";
import { paint, renderFacts, renderTable } from "../render/render-table.ts";
import { listRunners } from "../runner/find-runner.ts";
import type { Shell } from "../shell/shell.ts";

/** `millrace models show`: versions and variants of a model, and where each runs with what was measured there. */
export function showCommand(shell: Shell): Command {
  return addEdge(new Command("show"), "scope read")
    .description("Show a model: its versions and variants, where they run, and what was measured there")
    .argument("<model>", "name or id")
    .action(async (name: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const params = { model: name };
      const model = await client.call(endpoints.getModel, { params });
      const { items, calibrations } = await client.call(endpoints.listPlacements, { params });
      if (options.json) return shell.print(`${JSON.stringify({ model, placements: items, calibrations })}\n`);
      const runners = new Map((await listRunners(client)).map((runner) => [runner.id, runner.name]));
      shell.print(renderModel(model, items, shell));
      const unmeasured = renderUnmeasured(model, calibrations, runners, shell);
      if (items.length > 0 || unmeasured === "") shell.print(renderPlacements(model, items, runners, shell));
      shell.print(unmeasured);
    });
}

function renderModel({ name, id, versions, placement }: Model, placements: readonly Placement[], shell: Shell): string {
  const latest = versions.at(-1);
  const facts = latest === undefined ? [] : describeVersion(latest, TERMINAL);
  const rows = versions.toReversed().flatMap(({ id: versionId, version, variants }) => {
    const own = placements.filter(({ modelVersionId }) => modelVersionId === versionId);
    return variants.map((variant) => {
      const { share, basis } = describeFidelity(variant, own);
      const made = formatAge(variant.createdAt);
      return [`${name}@${version}`, variant.name, formatSize(variant.sizeBytes), share, basis, made];
    });
  });
  const table = renderTable([["version", "variant", "size", "fidelity", "by", "made"], ...rows], shell.columns);
  return `${paint(shell, "busy", name)} ${id}\n${renderFacts([["placed", placement.kind], ...facts])}\n${table}`;
}

function renderPlacements(
  { name, versions }: Model,
  placements: readonly Placement[],
  runners: ReadonlyMap<string, string>,
  shell: Shell,
): string {
  if (placements.length === 0) return "\nNot measured anywhere yet: a runner calibrates it when it is free.\n";
  const numbers = new Map(versions.map(({ id, version }) => [id, version]));
  const rows = placements.map((placement) => {
    const { modelVersionId, variant, backend, deviceKey, runnerId, software, state, fidelity, sweep, validated } =
      placement;
    const single = sweep[0]?.serviceMs;
    return [
      state,
      `${name}@${numbers.get(modelVersionId) ?? "?"} ${variant}`,
      markSoftware(`${runners.get(runnerId) ?? runnerId} ${deviceKey}`, software),
      backend,
      formatWith(single?.p50, "ms"),
      formatWith(single?.p99, "ms"),
      fidelity === null ? "–" : formatShare(fidelity),
      validated == null ? "–" : OUTCOMES[validated.verdict][1],
    ];
  });
  const heads = ["", "version", "where", "by", "p50", "p99", "fidelity", "validated"];
  const table = renderTable([heads, ...rows], shell.columns, (text, row, column) => {
    if (column > 0 || row === 0) return text;
    return paint(shell, placements[row - 1]?.state === "eligible" ? "good" : "bad", text);
  });
  return `\n${table}`;
}

/** The latest version's calibrations that wait or failed, and its variants that could not run somewhere. */
function renderUnmeasured(
  { versions }: Model,
  calibrations: readonly LatestCalibration[],
  runners: ReadonlyMap<string, string>,
  shell: Shell,
): string {
  const latest = versions.at(-1)?.id;
  const unmeasured = listUnmeasured(calibrations.filter(({ modelVersionId }) => modelVersionId === latest));
  if (unmeasured.length === 0) return "";
  const rows = unmeasured.map(({ runnerId, subject, reason }) => [runners.get(runnerId) ?? runnerId, subject, reason]);
  return `\n${renderTable([["not measured by", "what", "why"], ...rows], shell.columns)}`;
}
