import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Series } from "../../../protocol/history/series.ts";
import { EmptyState, Panel } from "../../ui/panels.tsx";
import { HeatMap } from "./heat-map.tsx";
import { ExportButtons } from "./export-buttons.tsx";
import { nextCommands } from "../../ui/next-commands.ts";
import { writeAddress } from "../../ui/page-address.ts";
import { readSeriesHistory } from "./series-history.ts";
import { SeriesPicker } from "./series-picker.tsx";
import { SeriesPlot } from "./series-plot.tsx";
import { nameSubject } from "../../../words/history.ts";
import { chooseSeries, type SeriesPick } from "./choose-series.ts";
import { fitWindow, TIME_WINDOWS, WindowPicker } from "./time-window.tsx";
import { useRefreshOn } from "../../ui/hooks/use-feed.ts";
import { type Resource, useResource } from "../../ui/hooks/use-resource.ts";
import type { ViewProps } from "../../ui/view-props.ts";

interface LatencyPanelProps extends ViewProps {
  readonly series: Resource<readonly Series[]>;
  /** Hears which series is shown. */
  readonly onShow?: (series: Series) => void;
  /** Whether to show all details of the series. */
  readonly inDepth?: boolean;
}

/** One series over time, chosen by subject and metric. */
export function LatencyPanel(props: LatencyPanelProps) {
  const { series, address, onPick, onShow } = props;
  const items = series.value ?? [];
  // Held fast once shown, so that fresher points elsewhere do not take the reader's plot away.
  const [held, setHeld] = useState<string | null>(null);
  const id = address.series ?? held;
  const choice = chooseSeries(items, id === null ? {} : { id });
  const { chosen } = choice;
  // A pick may follow another one before that is drawn.
  const latest = useRef<SeriesPick>({});
  useEffect(() => {
    if (chosen === null) return;
    latest.current = { subject: nameSubject(chosen), metric: chosen.metric, id: chosen.id };
    setHeld(chosen.id);
    onShow?.(chosen);
  }, [chosen?.id, onShow]);
  const pick = (change: (before: SeriesPick) => SeriesPick) => {
    latest.current = change(latest.current);
    onPick({ series: chooseSeries(items, latest.current).chosen?.id, span: undefined });
  };

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
      aside={<SeriesPicker choice={choice} onPick={pick} />}
    >
      <ChosenSeries key={chosen.id} {...props} chosen={chosen} />
    </Panel>
  );
}

function ChosenSeries(props: LatencyPanelProps & { chosen: Series }) {
  const { client, subscribe, address, onPick, writer, chosen, series, inDepth } = props;
  const fitting = useMemo(() => fitWindow(chosen.lastPointAt, Date.now()), []);
  const picked = TIME_WINDOWS.find(({ name }) => name === address.window) ?? fitting;
  const { id } = chosen;
  const past = useResource(
    useCallback((signal: AbortSignal) => readSeriesHistory(client, id, picked, signal), [client, id, picked]),
    1_000,
  );
  const { value, refresh } = past;
  useEffect(() => {
    if (value !== null && value.series.lastPointAt !== chosen.lastPointAt) refresh();
  }, [value, refresh, chosen.lastPointAt]);
  useRefreshOn(subscribe, "alert", refresh);

  const show = (other: string) => onPick({ series: other });
  return (
    <>
      <SeriesPlot
        client={client}
        series={chosen}
        window={picked}
        past={past}
        writer={writer}
        onMute={series.refresh}
        onShow={show}
      >
        <WindowPicker picked={picked} onPick={({ name }) => onPick({ series: id, window: name })} />
      </SeriesPlot>
      {inDepth === true ? (
        <>
          <ExportButtons client={client} series={chosen} window={picked} />
          <HeatMap key={picked.name} client={client} series={chosen} window={picked} />
        </>
      ) : (
        <p class="more">
          <a href={`/${writeAddress({ ...address, view: "history", series: id, window: picked.name })}`}>
            Spread over time, and comparisons
          </a>
        </p>
      )}
    </>
  );
}
