import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { createId } from "../../protocol/wire/id.ts";
import type { Job } from "../../protocol/jobs/job.ts";
import { WordBadge } from "../ui/badges.tsx";
import { Fact, Panel, Refusal } from "../ui/panels.tsx";
import { describeDuration, JOB_STATES, type JobNames } from "../../words/jobs.ts";
import { askAgain, describeSpec, nameSpec } from "../../words/kinds/registry.ts";
import { JobProblem, ProgressLine } from "../ui/job-table.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { Timestamp, useNow } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { Writer } from "../ui/hooks/use-writer.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { WriteButton } from "../ui/buttons.tsx";
import { EventLog, type JobHistory, useJobEvents } from "./event-log.tsx";
import { readJob } from "./read-job.ts";
import { ResultPanel } from "./result-panel.tsx";
import { SpecPanel } from "./spec-panel.tsx";
import { TracePanel } from "./trace-panel.tsx";

interface JobDetailProps extends ViewProps {
  readonly id: string;
  readonly names: JobNames;
}

/** One job: how far it is, what became of it, what was asked for, and everything that happened to it. */
export function JobDetail({ client, id, names, writer, onPick }: JobDetailProps) {
  const read = useResource(useCallback((signal: AbortSignal) => readJob(client, id, signal), [client, id]));
  const history = useJobEvents(client, id);
  // Progress comes with the events; whatever else happens changes the job.
  const turns = history.events.filter(({ type }) => type !== "progress").length;
  useEffect(() => {
    if (turns > 1) read.refresh();
  }, [turns, read.refresh]);
  const { value, error } = read;
  const job = value?.job ?? null;
  const run = value?.run ?? null;
  return (
    <>
      <Panel
        id="job"
        title={job === null ? "Job" : `${job.spec.kind} ${nameSpec(job.spec, names)}`}
        resource={read}
        aside={
          <div class="job-actions">
            <a href={writeAddress({ view: "jobs" })}>All jobs</a>
            {job !== null && <Actions client={client} job={job} writer={writer} onPick={onPick} />}
          </div>
        }
      >
        {job === null && error === null && <p class="muted loading">Reading the job …</p>}
        {job !== null && <JobFacts job={job} names={names} history={history} />}
        <Refusal text={writer.refusal ?? writer.failure} />
      </Panel>
      {value !== null && <ResultPanel client={client} read={value} names={names} events={history.events.length} />}
      {run !== null && run.traceBytes !== null && <TracePanel client={client} run={run} sizeBytes={run.traceBytes} />}
      {job !== null && (
        <>
          <section class="panel" aria-labelledby="events">
            <div class="panel-head">
              <h2 id="events">Events</h2>
            </div>
            <EventLog history={history} />
          </section>
          <SpecPanel spec={job.spec} />
        </>
      )}
    </>
  );
}

type ActionsProps = Pick<ViewProps, "client" | "onPick"> & { readonly job: Job; readonly writer: Writer };

/** Actions on a job: cancel while it runs, submit again once it has ended. */
function Actions({ client, job: { id, spec, endedAt }, writer, onPick }: ActionsProps) {
  const again = useRef(id);
  // One key for all presses: a press too many gives the same job.
  const key = useMemo(() => createId("request"), [id]);
  if (endedAt === null) {
    const cancel = () => client.call(jobEndpoints.cancelJob, { params: { id } });
    return (
      <WriteButton writer={writer} label="Cancel this job" work={cancel} onDone={() => undefined}>
        Cancel
      </WriteButton>
    );
  }
  const retry = async () => {
    const headers = { "idempotency-key": key };
    again.current = (await client.call(jobEndpoints.createJob, { headers, body: askAgain(spec) })).id;
  };
  return (
    <WriteButton
      writer={writer}
      label="Retry: submit this job again"
      work={retry}
      onDone={() => onPick({ job: again.current })}
    >
      Retry
    </WriteButton>
  );
}

interface JobFactsProps {
  readonly job: Job;
  readonly names: JobNames;
  readonly history: JobHistory;
}

function JobFacts({ job, names, history }: JobFactsProps) {
  const { state, spec, attempt, maxAttempts, runnerId, problem, result } = job;
  const now = useNow(state === "leased");
  const live = history.events.findLast((event) => event.progress !== null && event.attempt === attempt)?.progress;
  const progress = live ?? job.progress;
  const faults = result !== null && "faults" in result ? (result.faults ?? []) : [];
  return (
    <>
      <div class="job-state" role="status">
        <WordBadge says={JOB_STATES[state]} />
        {state === "leased" && progress !== null && <ProgressLine progress={progress} />}
        <JobProblem problem={problem} />
      </div>
      <dl class="facts">
        <Fact name="Asked for">{describeSpec(spec) || spec.kind}</Fact>
        <Fact name="Runner">
          {runnerId === null ? (
            "none yet"
          ) : (
            <a href={writeAddress({ view: "runners", runner: runnerId })}>{names.runners.get(runnerId) ?? runnerId}</a>
          )}
        </Fact>
        <Fact name="Attempt">{`${attempt} of ${maxAttempts}`}</Fact>
        <Fact name="Submitted">
          <Timestamp at={job.createdAt} />
        </Fact>
        <Fact name="Duration">{describeDuration(job, now)}</Fact>
        <Fact name="Id">
          <code>{job.id}</code>
        </Fact>
        {job.runId !== null && (
          <Fact name="Run">
            <code>{job.runId}</code>
          </Fact>
        )}
      </dl>
      {faults.length > 0 && (
        <>
          <h3 class="part">Faults</h3>
          <ul class="findings">
            {faults.map(({ code, detail, action }, index) => (
              <li key={index}>
                <a href={`/docs/problems#${code}`}>{code}</a>: {detail} <small>{`what was done: ${action}`}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
