import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { Series } from "../protocol/series.ts";
import { EmptyState } from "./empty-state.tsx";
import { nextCommands } from "./next-commands.ts";
import { Panel } from "./panel.tsx";
import { SeriesPicker } from "./series-picker.tsx";
import { SeriesPlot } from "./series-plot.tsx";
import { chooseSeries, nameSubject, type SeriesPick } from "./series-choice.ts";
import { fitWindow } from "./time-window.ts";
import { type Resource, useResource } from "./use-resource.ts";
import { WindowPicker } from "./window-picker.tsx";

interface LatencyPanelProps {
  readonly client: Client;
  readonly series: Resource<readonly Series[]>;
}

/** One series over time, chosen by subject and metric. */
export function LatencyPanel({ client, series }: LatencyPanelProps) {
  const items = series.value ?? [];
  const [pick, setPick] = useState<SeriesPick>({});
  const choice = chooseSeries(items, pick);
  const { chosen } = choice;
  // Held fast once shown, so that fresher points elsewhere do not take the reader's plot away.
  useEffect(() => {
    if (chosen !== null && chosen.id !== pick.id) {
      const shown = { subject: nameSubject(chosen), metric: chosen.metric, id: chosen.id };
      // A pick that came after this was drawn wins.
      setPick((before) => (before === pick ? shown : before));
    }
  }, [chosen, pick]);

  if (chosen === null) {
    return (
      <Panel id="latency" title="Measurements over time" resource={series}>
        {series.value !== null && (
          <EmptyState says="Nothing has been measured yet." command={nextCommands.submitBenchmark}>
            Every benchmark and every inference adds a point to the history; this one is a start:
          </EmptyState>
        )}
      </Panel>
    );
  }
  return (
    <Panel
      id="latency"
      title="Measurements over time"
      resource={series}
      aside={<SeriesPicker choice={choice} onPick={setPick} />}
    >
      <ChosenSeries key={chosen.id} client={client} series={chosen} />
    </Panel>
  );
}

function ChosenSeries({ client, series }: { client: Client; series: Series }) {
  const fitting = useMemo(() => fitWindow(series.lastPointAt, Date.now()), []);
  const [picked, setWindow] = useState(fitting);
  const { id } = series;
  const points = useResource(
    useCallback(
      (signal: AbortSignal) => {
        const from = new Date(Date.now() - picked.spanMs).toISOString();
        return client.call(endpoints.listPoints, { query: { series: id, from, step: picked.step }, signal });
      },
      [client, id, picked],
    ),
    1_000,
  );
  const { value, refresh } = points;
  useEffect(() => {
    if (value !== null && value.series.lastPointAt !== series.lastPointAt) refresh();
  }, [value, refresh, series.lastPointAt]);

  return (
    <SeriesPlot series={series} window={picked} points={points}>
      <WindowPicker picked={picked} onPick={setWindow} />
    </SeriesPlot>
  );
}
