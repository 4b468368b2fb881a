import { Command } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { addEdge, type EdgeOptions, openEdge } from "../edge-options.ts";
import { describeSpec } from "../infer/read-inputs.ts";
import { listAll } from "../../client/list-all.ts";
import { formatAge, formatValue } from "../render/format-values.ts";
import { renderTable } from "../render/render-table.ts";
import type { Shell } from "../shell.ts";

/** `millrace models list`: every model by its latest version. */
export function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope read")
    .description("List models, newest first")
    .action(async (options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const models = await Array.fromAsync(listAll(client, endpoints.listModels, { query: { limit: 200 } }));
      if (options.json) return shell.print(`${JSON.stringify(models)}\n`);
      if (models.length === 0) return shell.print("No model yet: millrace models push <file.onnx>\n");
      const rows = models.map(({ name, versions }) => {
        const latest = versions.at(-1);
        if (latest === undefined) return [name, "–", "–", "–", "–", "–"];
        const { version, variants, summary, inputs, createdAt } = latest;
        const parameters = summary === null ? "–" : formatValue(summary.parameters);
        const names = variants.map((variant) => variant.name).join(", ");
        return [name, `${version}`, names, parameters, inputs.map(describeSpec).join(", "), formatAge(createdAt)];
      });
      shell.print(
        renderTable([["name", "version", "variants", "parameters", "takes", "uploaded"], ...rows], shell.columns),
      );
    });
}
