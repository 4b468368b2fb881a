import { Command, Option } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { JobState, type JobSummary } from "../../protocol/jobs/job.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { concludeJob } from "./submit-job.ts";
import { watchJob } from "./watch-job.ts";
import { describeSubject, renderJob } from "./render-job.ts";
import { wholeBetween } from "../options/option-values.ts";
import { formatAge } from "../render/format-values.ts";
import { paint, renderTable, type Tone } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface ListOptions extends EdgeOptions {
  readonly state?: JobSummary["state"];
  readonly limit: number;
}

const TONES: Record<JobSummary["state"], Tone> = {
  queued: "faint",
  leased: "strong",
  succeeded: "good",
  failed: "bad",
  cancelled: "doubtful",
};

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
      const rows = items.map((job) => [
        job.state === "leased" ? "running" : job.state,
        job.spec.kind,
        describeSubject(job.spec),
        job.verdict ?? "",
        formatAge(job.createdAt),
        job.id,
      ]);
      const heads = ["state", "kind", "of", "verdict", "queued", "id"];
      const table = renderTable([heads, ...rows], shell.columns, (text, row, column) =>
        column === 0 && row > 0 ? paint(shell, TONES[items[row - 1]?.state ?? "queued"], text) : text,
      );
      shell.print(table);
    });
}

function showCommand(shell: Shell): Command {
  return addEdge(new Command("show"), "scope read")
    .description("Show a job, with its result once it has one")
    .argument("<job>", "id of a job")
    .action(async (id: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const job = await client.call(endpoints.getJob, { params: { id } });
      shell.print(options.json ? `${JSON.stringify(job)}\n` : renderJob(job, shell));
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
