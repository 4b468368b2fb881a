import { useCallback, useEffect } from "preact/hooks";
import { endpoints } from "../protocol/endpoints.ts";
import { JobPanel } from "./job-panel.tsx";
import { LatencyPanel } from "./latency-panel.tsx";
import { FleetPanel } from "./overview/fleet-panel.tsx";
import { GoodputPanel } from "./overview/goodput-panel.tsx";
import { OpenAlertPanel } from "./overview/open-alert-panel.tsx";
import { readGoodput } from "./overview/read-goodput.ts";
import { PolicyPanel } from "./policy-panel.tsx";
import { PredictionPanel } from "./prediction-panel.tsx";
import type { Change } from "./use-feed.ts";
import { useResource } from "./use-resource.ts";
import { useSeriesList } from "./use-series-list.ts";
import type { ViewProps } from "./view-props.ts";

const JOBS_SHOWN = 20;
const PREDICTION_STEP = "5m";
/** Every inference changes the history; reading it again may wait. */
const HISTORY_GAP_MS = 2_000;
const GOODPUT_GAP_MS = 5_000;
const ALERTS_SHOWN = 5;

/** The first view: runners, goodput, alerts, latency, predictions, jobs, kept up to date by the live feed. */
export function Overview(props: ViewProps) {
  const { client, subscribe, address } = props;
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
  const goodput = useResource(
    useCallback((signal: AbortSignal) => readGoodput(client, signal), [client]),
    GOODPUT_GAP_MS,
  );
  const alerts = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listAlerts, { query: { state: "open", limit: ALERTS_SHOWN }, signal })).items,
      [client],
    ),
  );
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
        if (all || change === "alert") alerts.refresh();
        if (all || change === "history") {
          goodput.refresh();
          predictions.refresh();
        }
      }),
    [subscribe],
  );

  // Everything appears at once, so that no part pushes another one down as it arrives.
  const isReady = [runners, goodput, alerts, jobs, series, models, predictions].every(
    ({ value, error }) => value !== null || error !== null,
  );
  return (
    <main id="content" tabIndex={-1} aria-busy={!isReady}>
      <h1 class="unseen">Overview</h1>
      {isReady ? (
        <>
          <FleetPanel runners={runners} />
          <GoodputPanel goodput={goodput} />
          <OpenAlertPanel alerts={alerts} />
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
