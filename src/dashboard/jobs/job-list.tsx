import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useCallback } from "preact/hooks";
import { JobKind, JobState } from "../../protocol/jobs/job.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { JOB_STATES, type JobNames } from "../../words/jobs.ts";
import { JobTable } from "../ui/job-table.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { plainOptions } from "../../words/form-fields.ts";
import { Picker } from "../ui/forms/picker.tsx";

const PAGE_SIZE = 25;
const ALL = ["", "all"] as const;

/** Jobs of a kind and state, newest first, page by page. */
export function JobList({ client, subscribe, address, onPick, names }: ViewProps & { readonly names: JobNames }) {
  const kind = JobKind.options.find((each) => each === address.kind);
  const state = JobState.options.find((each) => each === address.state);
  const { cursor } = address;
  const jobs = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(jobEndpoints.listJobs, { query: { limit: PAGE_SIZE, kind, state, cursor }, signal }),
      [client, kind, state, cursor],
    ),
  );
  useRefreshOn(subscribe, "job", jobs.refresh);
  const { value, error } = jobs;
  const isFiltered = kind !== undefined || state !== undefined || cursor !== undefined;
  const next = value?.nextCursor ?? null;
  return (
    <Panel
      id="jobs"
      title="Jobs"
      resource={jobs}
      aside={
        <div class="picker">
          <Picker
            label="Kind"
            value={kind ?? ""}
            options={[ALL, ...plainOptions(JobKind.options)]}
            onPick={(picked) => onPick({ kind: picked || undefined, cursor: undefined })}
          />
          <Picker
            label="State"
            value={state ?? ""}
            options={[ALL, ...JobState.options.map((each) => [each, JOB_STATES[each][1]] as const)]}
            onPick={(picked) => onPick({ state: picked || undefined, cursor: undefined })}
          />
        </div>
      }
    >
      <div class="job-list">
        {value === null && error === null && <p class="muted loading">Reading jobs …</p>}
        {value !== null && value.items.length > 0 && <JobTable client={client} jobs={value.items} names={names} />}
        {value?.items.length === 0 && isFiltered && <p class="muted">No such job.</p>}
        {value?.items.length === 0 && !isFiltered && (
          <EmptyState says="No job has been submitted yet." command={nextCommands.submitBenchmark}>
            This one checks the gemm kernel against its reference, then times it:
          </EmptyState>
        )}
      </div>
      {(cursor !== undefined || next !== null) && (
        <nav class="pages" aria-label="Pages of jobs">
          <button type="button" disabled={cursor === undefined} onClick={() => onPick({ cursor: undefined })}>
            Newest
          </button>
          <button type="button" disabled={next === null} onClick={() => onPick({ cursor: next ?? undefined })}>
            Older
          </button>
        </nav>
      )}
    </Panel>
  );
}
