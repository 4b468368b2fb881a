import { useCallback } from "preact/hooks";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { JobKind, JobState } from "../../protocol/jobs/job.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { JOB_STATES, type JobNames } from "../../words/jobs.ts";
import { JobTable } from "../ui/job-table.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";

const PAGE_SIZE = 25;

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
          <Filter
            label="Kind"
            value={kind}
            options={JobKind.options.map((each) => [each, each])}
            onPick={(picked) => onPick({ kind: picked, cursor: undefined })}
          />
          <Filter
            label="State"
            value={state}
            options={JobState.options.map((each) => [each, JOB_STATES[each][1]])}
            onPick={(picked) => onPick({ state: picked, cursor: undefined })}
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

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  /** Values with their words. */
  readonly options: readonly (readonly [string, string])[];
  readonly onPick: (value: string | undefined) => void;
}

function Filter({ label, value, options, onPick }: FilterProps) {
  return (
    <label>
      {label}
      <select
        value={value ?? ""}
        onChange={({ currentTarget }) => onPick(currentTarget.value === "" ? undefined : currentTarget.value)}
      >
        <option value="">all</option>
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
