import { useCallback, useEffect } from "preact/hooks";
import { endpoints } from "../protocol/endpoints.ts";
import { DiagnosisPanel } from "./diagnosis-panel.tsx";
import { JobPanel } from "./job-panel.tsx";
import { LatencyPanel } from "./latency-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import { PredictionPanel } from "./prediction-panel.tsx";
import { RunnerPanel } from "./runner-panel.tsx";
import type { Change } from "./use-feed.ts";
import { useResource } from "./use-resource.ts";
import { useSeriesList } from "./use-series-list.ts";
import type { ViewProps } from "./view-props.ts";

const JOBS_SHOWN = 20;
const PREDICTION_STEP = "5m";
/** Every inference changes the history; reading it again may wait. */
const HISTORY_GAP_MS = 2_000;

/** The first view: runners, latency, predictions, jobs, kept up to date by the live feed. */
export function Overview(props: ViewProps) {
  const { client, subscribe, address, onPick } = props;
  const runners = useResource(
    useCallback(async (signal: AbortSignal) => (await client.call(endpoints.listRunners, { signal })).items, [client]),
  );
  const models = useResource(
    useCallback(async (signal: AbortSignal) => (await client.call(endpoints.listModels, { signal })).items, [client]),
  );
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listJobs, { query: { limit: JOBS_SHOWN }, signal })).items,
      [client],
    ),
  );
  const series = useSeriesList(client, subscribe, address.series);
  const predictions = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(endpoints.readPredictionCalibration, { query: { step: PREDICTION_STEP }, signal }),
      [client],
    ),
    HISTORY_GAP_MS,
  );

  useEffect(
    () =>
      subscribe((change: Change) => {
        const all = change === "everything";
        if (all || change === "runner") runners.refresh();
        if (all || change === "job") {
          jobs.refresh();
          models.refresh();
        }
        if (all || change === "history") predictions.refresh();
      }),
    [subscribe],
  );

  // Everything appears at once, so that no part pushes another one down as it arrives.
  const isReady = [runners, jobs, series, models, predictions].every(
    ({ value, error }) => value !== null || error !== null,
  );
  const diagnosed = runners.value?.find(({ id }) => id === address.runner);
  return (
    <main id="content" tabIndex={-1} aria-busy={!isReady}>
      <h1 class="unseen">Overview</h1>
      {isReady ? (
        <>
          <RunnerPanel
            runners={runners}
            positions={jobs.value?.flatMap(({ roofline }) => roofline ?? []) ?? []}
            diagnosed={address.runner ?? null}
            onDiagnose={(runner) => onPick({ runner })}
          />
          {diagnosed !== undefined && (
            <DiagnosisPanel
              key={diagnosed.id}
              client={client}
              subscribe={subscribe}
              runner={diagnosed}
              onClose={() => onPick({ runner: undefined })}
            />
          )}
          <LatencyPanel {...props} series={series} />
          <PredictionPanel predictions={predictions} />
          <PolicyPanel client={client} jobs={jobs} models={models} />
          <JobPanel client={client} jobs={jobs} models={models} runners={runners} />
        </>
      ) : (
        <p class="muted loading">Reading runners, jobs and history …</p>
      )}
    </main>
  );
}
