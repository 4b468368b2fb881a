import { useState } from "preact/hooks";
import type { Series } from "../../protocol/history/series.ts";
import { ComparePanel } from "./compare-panel.tsx";
import { EveryPointPanel } from "./every-point-panel.tsx";
import { LatencyPanel } from "../plots/series/latency-panel.tsx";
import { useSeriesList } from "../plots/series/use-series-list.ts";
import type { ViewProps } from "../ui/view-props.ts";

/** The second view: one series in depth, and two parts of the history side by side. */
export function HistoryView(props: ViewProps) {
  const { client, subscribe, address } = props;
  const series = useSeriesList(client, subscribe, address.series);
  const [shown, setShown] = useState<Series | null>(null);
  const isReady = series.value !== null || series.error !== null;
  return (
    <main id="content" tabIndex={-1} aria-busy={!isReady}>
      <h1 class="unseen">History</h1>
      {isReady ? (
        <>
          <LatencyPanel {...props} series={series} onShow={setShown} inDepth />
          {shown !== null && <EveryPointPanel key={shown.id} {...props} series={shown} />}
          {shown !== null && <ComparePanel {...props} shown={shown} series={series.value ?? []} />}
        </>
      ) : (
        <p class="muted loading">Reading the history …</p>
      )}
    </main>
  );
}
