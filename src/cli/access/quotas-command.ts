import { Command, InvalidArgumentError } from "commander";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { type ProjectQuotas, QuotaName } from "../../protocol/service/quota.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { describeUse, nameQuota } from "../../words/quotas.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { bytesOption, collect, wholeBetween } from "../options/option-values.ts";
import { TERMINAL } from "../render/format-values.ts";
import { renderTable } from "../render/render-table.ts";
import type { Shell } from "../shell/shell.ts";

/** A limit; null takes one back, so that the default counts. */
type Change = readonly [quota: QuotaName, limit: number | null];

interface QuotaOptions extends EdgeOptions {
  readonly set?: readonly Change[];
}

/** `millrace projects quotas`: what a project uses and may have. */
export function quotasCommand(shell: Shell): Command {
  return addEdge(new Command("quotas"), "scope read; of the project main and admin for another project")
    .description("Show how much a project uses of its quotas, and set them as the operator")
    .argument("[name]", "of the project; by default that of the key")
    .option(
      "--set <quota=limit...>",
      "such as models=100 or storedBytes=10GiB; models=default takes a limit back",
      collect(readChange),
    )
    .action(async (name: string | undefined, { set = [], ...options }: QuotaOptions) => {
      const client = await openEdge(options, shell);
      const told = set.length === 0 ? await readQuotas(client, name) : await changeQuotas(client, name, set);
      if (options.json) return shell.print(`${JSON.stringify(told)}\n`);
      const rows = told.quotas.map((quota) => [
        quota.name,
        nameQuota(quota.name),
        describeUse(quota, TERMINAL),
        quota.isSet ? "set" : "",
      ]);
      shell.print(renderTable([["quota", "of", "used", ""], ...rows], shell.columns));
    });
}

function readQuotas(client: Client, name: string | undefined): Promise<ProjectQuotas> {
  if (name === undefined) return client.call(endpoints.getProject);
  return client.call(endpoints.getQuotas, { params: { name } });
}

/** Those that were set before stay. */
async function changeQuotas(client: Client, name: string | undefined, set: readonly Change[]): Promise<ProjectQuotas> {
  if (name === undefined) throw new ProblemError("invalid-request", "Name the project whose quotas to set.");
  const { quotas } = await readQuotas(client, name);
  const limits: Record<string, number> = {};
  for (const quota of quotas) if (quota.isSet) limits[quota.name] = quota.limit;
  for (const [quota, limit] of set) {
    if (limit === null) delete limits[quota];
    else limits[quota] = limit;
  }
  return client.call(endpoints.setQuotas, { params: { name }, body: limits });
}

function readChange(text: string): Change {
  const [name = "", limit = "", ...more] = text.split("=");
  if (limit === "" || more.length > 0) throw new InvalidArgumentError("must be a quota, =, and a number or default.");
  const quota = QuotaName.safeParse(name);
  if (!quota.success) throw new InvalidArgumentError(`must name one of ${QuotaName.options.join(", ")}.`);
  if (limit === "default") return [quota.data, null];
  const read = quota.data === "storedBytes" ? bytesOption : wholeBetween(0, Number.MAX_SAFE_INTEGER);
  return [quota.data, read(limit)];
}
