import { Command, Option } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { JobState, type JobSummary } from "../../protocol/jobs/job.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { concludeJob } from "./submit-job.ts";
import { watchJob } from "./watch-job.ts";
import { listAll } from "../../client/list-all.ts";
import type { Client } from "../../client/client.ts";
import { JOB_STATES, type JobNames, listJobNames } from "../../words/jobs.ts";
import { describeSpec, judgeJob, nameSpec } from "../../words/kinds/registry.ts";
import { listRunners } from "../runner/find-runner.ts";
import { renderJob } from "./render-job.ts";
import { wholeBetween } from "../options/option-values.ts";
import { formatAge, TERMINAL } from "../render/format-values.ts";
import { paint, renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface ListOptions extends EdgeOptions {
  readonly state?: JobSummary["state"];
  readonly limit: number;
}

/** `millrace jobs`: what was asked of runners, and what became of it. */
export function jobsCommand(shell: Shell = PROCESS): Command {
  return new Command("jobs")
    .description("See, follow and cancel jobs")
    .addCommand(listCommand(shell))
    .addCommand(showCommand(shell))
    .addCommand(watchCommand(shell))
    .addCommand(cancelCommand(shell));
}

function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope read")
    .description("List jobs, newest first")
    .addOption(new Option("--state <state>", "only these").choices(JobState.options))
    .option("--limit <n>", "at most", wholeBetween(1, 200), 30)
    .action(async ({ state, limit, ...options }: ListOptions) => {
      const client = await openEdge(options, shell);
      const query = { limit, ...(state !== undefined && { state }) };
      const { items } = await client.call(endpoints.listJobs, { query });
      if (options.json) return shell.print(`${JSON.stringify(items)}\n`);
      if (items.length === 0) return shell.print("No job: millrace bench <kernel> makes one.\n");
      const names = await readNames(client);
      const rows = items.map((job) => [
        JOB_STATES[job.state][1],
        job.spec.kind,
        nameSpec(job.spec, names),
        describeSpec(job.spec, TERMINAL),
        job.verdict === null ? "" : judgeJob(job)[1],
        formatAge(job.createdAt),
        job.id,
      ]);
      const heads = ["state", "kind", "of", "asked for", "verdict", "queued", "id"];
      const table = renderTable([heads, ...rows], shell.columns, (text, row, column) =>
        column === 0 && row > 0 ? paint(shell, JOB_STATES[items[row - 1]?.state ?? "queued"][0], text) : text,
      );
      shell.print(table);
    });
}

/** Jobs name models' versions and runners by id alone. */
async function readNames(client: Client): Promise<JobNames> {
  const models = Array.fromAsync(listAll(client, endpoints.listModels, { query: { limit: 200 } }));
  return listJobNames(...(await Promise.all([models, listRunners(client)])));
}

function showCommand(shell: Shell): Command {
  return addEdge(new Command("show"), "scope read")
    .description("Show a job, with its result once it has one")
    .argument("<job>", "id of a job")
    .action(async (id: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const job = await client.call(endpoints.getJob, { params: { id } });
      shell.print(options.json ? `${JSON.stringify(job)}\n` : renderJob(job, await readNames(client), shell));
    });
}

function watchCommand(shell: Shell): Command {
  return addEdge(new Command("watch"), "scope read")
    .description("Follow a job to its end, and end as the command would that made it; --json prints its events")
    .argument("<job>", "id of a job")
    .action(async (id: string, { json, ...choice }: EdgeOptions) => {
      const client = await openEdge(choice, shell);
      const onEvent = (event: object) => (json ? shell.print(`${JSON.stringify(event)}\n`) : undefined);
      const job = await watchJob(client, id, shell, { json, onEvent });
      // Its events are what was asked for.
      shell.exit(concludeJob(job, json ? { ...shell, print: () => {} } : shell, json));
    });
}

function cancelCommand(shell: Shell): Command {
  return addEdge(new Command("cancel"), "scope submit")
    .description("Cancel a job; one that has ended stays as it is")
    .argument("<job>", "id of a job")
    .action(async (id: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const job = await client.call(endpoints.cancelJob, { params: { id } });
      shell.print(
        options.json
          ? `${JSON.stringify(job)}\n`
          : `${job.id} ${job.state === "cancelled" ? "is cancelled" : `has ${job.state} already`}\n`,
      );
    });
}
