import type { Client } from "../../client/client.ts";
import type { JobSummary } from "../../protocol/jobs/job.ts";
import type { Model } from "../../protocol/models/model.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { listJobNames } from "../../words/jobs.ts";
import { JobTable } from "../ui/job-table.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { writeAddress } from "../ui/page-address.ts";
import type { Resource } from "../ui/hooks/use-resource.ts";

interface JobPanelProps {
  readonly client: Client;
  readonly jobs: Resource<readonly JobSummary[]>;
  readonly models: Resource<readonly Model[]>;
  readonly runners: Resource<readonly Runner[]>;
}

/** The latest jobs. */
export function JobPanel({ client, jobs, models, runners }: JobPanelProps) {
  const items = jobs.value ?? [];
  const running = items.filter(({ state }) => state === "leased").length;
  return (
    <Panel
      id="jobs"
      title="Latest jobs"
      resource={jobs}
      aside={
        items.length > 0 && (
          <span class="muted">
            {running === 0 ? "none running" : `${running} running`} ·{" "}
            <a href={writeAddress({ view: "jobs" })}>all jobs</a>
          </span>
        )
      }
    >
      {items.length > 0 && (
        <JobTable client={client} jobs={items} names={listJobNames(models.value ?? [], runners.value ?? [])} />
      )}
      {jobs.value?.length === 0 && (
        <EmptyState says="No job has been submitted yet." command={nextCommands.submitBenchmark}>
          This one checks the gemm kernel against its reference, then times it:
        </EmptyState>
      )}
    </Panel>
  );
}
