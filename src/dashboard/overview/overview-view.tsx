import { alertEndpoints } from "../../protocol/history/alert-endpoints.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { modelEndpoints } from "../../protocol/models/model-endpoints.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { historyEndpoints } from "../../protocol/history/history-endpoints.ts";
import { useCallback, useEffect } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Alert } from "../../protocol/history/alert.ts";
import { FINDING_WORDS, nameAlert } from "../../words/alerts.ts";
import { PredictionPanel } from "../plots/prediction-panel.tsx";
import { LatencyPanel } from "../plots/series/latency-panel.tsx";
import { useSeriesList } from "../plots/series/use-series-list.ts";
import type { Change } from "../ui/hooks/use-feed.ts";
import { type Resource, useResource } from "../ui/hooks/use-resource.ts";
import { writeAddress } from "../ui/page-address.ts";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import type { ViewProps } from "../ui/view-props.ts";
import { FleetPanel } from "./fleet-panel.tsx";
import { GoodputPanel } from "./goodput-panel.tsx";
import { type Goodput, sumGoodput } from "./goodput.ts";
import { JobPanel } from "./job-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";

/** Open alerts without an acknowledgement, each with a link to its evidence. */
function OpenAlertPanel({ alerts }: { alerts: Resource<readonly Alert[]> }) {
  const { value } = alerts;
  return (
    <Panel
      id="open-alerts"
      title="Open alerts"
      resource={alerts}
      aside={<a href={writeAddress({ view: "alerts" })}>All alerts</a>}
    >
      {value?.length === 0 && <p class="muted">Nothing has moved, and nothing is wrong that the watch knows.</p>}
      {value !== null && value.length > 0 && (
        <ul class="open-alerts">
          {value.map((alert) => (
            <li key={alert.id}>
              <a href={writeAddress({ view: "alerts", state: "open", alert: alert.id })}>{titleOf(alert)}</a>{" "}
              {alert.summary}{" "}
              <span class="muted">
                since <Timestamp at={alert.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** A finding's summary names its subject already. */
function titleOf(alert: Alert): string {
  return alert.finding === null ? nameAlert(alert) : FINDING_WORDS[alert.finding.kind];
}

const SPAN_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Outcomes of the last hour's requests, from a whole minute on. */
async function readGoodput(client: Client, signal: AbortSignal): Promise<Goodput> {
  const toMs = Date.now();
  const fromMs = Math.floor((toMs - SPAN_MS) / MINUTE_MS) * MINUTE_MS;
  const span = { from: new Date(fromMs).toISOString(), step: "1m" };
  const ask = (selected: { readonly metric?: string; readonly unit: string }) =>
    client.call(historyEndpoints.queryHistory, {
      query: { ...span, ...selected, subjectKind: "model", groupBy: ["metric"], percentiles: [50] },
      signal,
    });
  const [predictions, answers, refusals] = await Promise.all([
    client.call(historyEndpoints.readPredictionCalibration, { query: span, signal }),
    ask({ metric: "rows", unit: "rows" }),
    ask({ unit: "requests" }),
  ]);
  return sumGoodput({ predictions, answers, refusals }, fromMs, toMs);
}

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
    useCallback(
      async (signal: AbortSignal) => (await client.call(runnerEndpoints.listRunners, { signal })).items,
      [client],
    ),
  );
  const models = useResource(
    useCallback(
      async (signal: AbortSignal) => (await client.call(modelEndpoints.listModels, { signal })).items,
      [client],
    ),
  );
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(jobEndpoints.listJobs, { query: { limit: JOBS_SHOWN }, signal })).items,
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
        (await client.call(alertEndpoints.listAlerts, { query: { state: "open", limit: ALERTS_SHOWN }, signal })).items,
      [client],
    ),
  );
  const predictions = useResource(
    useCallback(
      (signal: AbortSignal) =>
        client.call(historyEndpoints.readPredictionCalibration, { query: { step: PREDICTION_STEP }, signal }),
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
