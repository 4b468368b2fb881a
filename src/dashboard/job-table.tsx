import type { Client } from "../client/client.ts";
import type { JobSummary } from "../protocol/job.ts";
import { JobRow } from "./job-row.tsx";
import type { JobNames } from "./job-names.ts";
import { useNow } from "./use-now.ts";

/** Streams that may be open at once: a browser allows six connections to one origin over HTTP/1.1. */
const FOLLOWED_JOBS = 2;

interface JobTableProps {
  readonly client: Client;
  readonly jobs: readonly JobSummary[];
  readonly names: JobNames;
}

/** Jobs, the running ones among them live. */
export function JobTable({ client, jobs, names }: JobTableProps) {
  const running = jobs.filter(({ state }) => state === "leased").map(({ id }) => id);
  const followed = new Set(running.slice(0, FOLLOWED_JOBS));
  const now = useNow(running.length > 0);
  return (
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
        {jobs.map((job) => (
          <JobRow
            key={job.id}
            client={client}
            job={job}
            modelNames={names.models}
            runnerName={job.runnerId === null ? null : (names.runners.get(job.runnerId) ?? job.runnerId)}
            follow={followed.has(job.id)}
            now={now}
          />
        ))}
      </tbody>
    </table>
  );
}
