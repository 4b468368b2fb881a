import type { Client } from "../client/client.ts";
import type { JobSummary } from "../protocol/job.ts";
import type { Model } from "../protocol/model.ts";
import type { Runner } from "../protocol/runner.ts";
import { EmptyState } from "./empty-state.tsx";
import { JobRow } from "./job-row.tsx";
import { nextCommands } from "./next-commands.ts";
import { Panel } from "./panel.tsx";
import { useNow } from "./use-now.ts";
import type { Resource } from "./use-resource.ts";

/** Streams that may be open at once: a browser allows six connections to one origin over HTTP/1.1. */
const FOLLOWED_JOBS = 2;

interface JobPanelProps {
  readonly client: Client;
  readonly jobs: Resource<readonly JobSummary[]>;
  readonly models: Resource<readonly Model[]>;
  readonly runners: Resource<readonly Runner[]>;
  /** Id of the job that somebody came for. */
  readonly picked: string | null;
}

/** The latest jobs. */
export function JobPanel({ client, jobs, models, runners, picked }: JobPanelProps) {
  const items = jobs.value ?? [];
  const running = items.filter(({ state }) => state === "leased").map(({ id }) => id);
  const followed = new Set(running.slice(0, FOLLOWED_JOBS));
  const now = useNow(running.length > 0);
  const runnerNames = new Map(runners.value?.map(({ id, name }) => [id, name]));
  const modelNames = new Map(
    models.value?.flatMap(({ name, versions }) =>
      versions.map(({ id, version }) => [id, `${name}@${version}`] as const),
    ),
  );
  return (
    <Panel
      id="jobs"
      title="Latest jobs"
      resource={jobs}
      aside={
        items.length > 0 && (
          <span class="muted">{running.length === 0 ? "none running" : `${running.length} running`}</span>
        )
      }
    >
      {items.length > 0 ? (
        <table class="jobs">
          <thead>
            <tr>
              <th scope="col">Subject</th>
              <th scope="col">State</th>
              <th scope="col">Runner</th>
              <th scope="col">Attempt</th>
              <th scope="col">Submitted</th>
              <th scope="col">Duration</th>
            </tr>
          </thead>
          <tbody>
            {items.map((job) => (
              <JobRow
                key={job.id}
                client={client}
                job={job}
                modelNames={modelNames}
                runnerName={job.runnerId === null ? null : (runnerNames.get(job.runnerId) ?? job.runnerId)}
                follow={followed.has(job.id)}
                isPicked={job.id === picked}
                now={now}
              />
            ))}
          </tbody>
        </table>
      ) : (
        jobs.value !== null && (
          <EmptyState says="No job has been submitted yet." command={nextCommands.submitBenchmark}>
            This one checks the gemm kernel against its reference, then times it:
          </EmptyState>
        )
      )}
    </Panel>
  );
}
