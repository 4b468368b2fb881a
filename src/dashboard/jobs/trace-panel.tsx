import { runEndpoints } from "../../protocol/history/run-endpoints.ts";
import { useMemo, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { formatBytes, formatNumber, formatTime } from "../../words/numbers.ts";
import { DownloadButton } from "../ui/buttons.tsx";
import {
  type LaidSpan,
  type LaidTrace,
  moveStretch,
  stretchAround,
  sumSpans,
  type TraceStretch,
  zoomStretch,
} from "./lay-out-trace.ts";
import type { ReadRun } from "./read-job.ts";
import { SpanTable } from "./span-table.tsx";
import { TraceCanvas } from "./trace-canvas.tsx";

/** A press of a key or button: so much nearer, or so much of what is shown further. */
const ZOOM = 0.5;
const STEP = 0.25;

const BUTTONS = [
  ["ArrowLeft", "Earlier"],
  ["ArrowRight", "Later"],
  ["+", "Zoom in"],
  ["-", "Zoom out"],
  ["Home", "Show all"],
] as const;

/** The spans of a trace over time: zoomed and moved by pointer, keys or buttons, and listed in tables. */
function TraceTimeline({ trace }: { readonly trace: LaidTrace }) {
  const [shown, setShown] = useState<TraceStretch>({ startUs: trace.startUs, endUs: trace.endUs });
  const [picked, setPicked] = useState<LaidSpan | null>(null);
  const sums = useMemo(() => sumSpans(trace), [trace]);
  const ordered = useMemo(
    () => trace.lanes.flatMap(({ spans }) => spans).toSorted((a, b) => a.startUs - b.startUs || a.depth - b.depth),
    [trace],
  );
  const show = (span: LaidSpan) => {
    setPicked(span);
    setShown(stretchAround(span, trace));
  };
  /** Handles a key; false if it has no meaning here. */
  const press = (key: string): boolean => {
    const change = CHANGES[key];
    if (change !== undefined) setShown((now) => change(now, trace));
    if (key !== "n" && key !== "p") return change !== undefined;
    const place = picked === null ? -1 : ordered.indexOf(picked);
    const next = ordered[key === "n" ? place + 1 : place - 1];
    if (next !== undefined) show(next);
    return true;
  };
  const count = ordered.length;
  return (
    <div class="trace">
      <div class="plot-head">
        <div class="readout" role="status">
          {picked === null ? (
            <span class="muted">
              Drag to move, Ctrl and wheel to zoom, click a span; keys: arrows, + and −, Home, n and p for the next and
              previous span
            </span>
          ) : (
            <span>
              <b>{picked.name}</b> {formatTime(picked.endUs - picked.startUs)} from {formatTime(picked.startUs)}
              {picked.run !== null && `, repetition ${picked.run}`} <span class="muted">{picked.lane}</span>
            </span>
          )}
        </div>
        <div class="trace-keys">
          {BUTTONS.map(([key, words]) => (
            <button key={key} type="button" onClick={() => press(key)}>
              {words}
            </button>
          ))}
        </div>
      </div>
      <TraceCanvas
        trace={trace}
        shown={shown}
        picked={picked}
        label={`${count} spans on ${trace.lanes.length} lanes; shown: ${formatTime(shown.startUs)} to ${formatTime(shown.endUs)}`}
        onStretch={setShown}
        onPick={setPicked}
        onKey={press}
      />
      <SpanTable sums={sums} spans={ordered} shown={shown} onShow={show} />
    </div>
  );
}

type StretchChange = (shown: TraceStretch, whole: TraceStretch) => TraceStretch;

const zoomBy =
  (factor: number): StretchChange =>
  (shown, whole) =>
    zoomStretch(shown, factor, (shown.startUs + shown.endUs) / 2, whole);
const moveBy =
  (share: number): StretchChange =>
  (shown, whole) =>
    moveStretch(shown, share * (shown.endUs - shown.startUs), whole);

const CHANGES: Record<string, StretchChange> = {
  ArrowLeft: moveBy(-STEP),
  ArrowRight: moveBy(STEP),
  ArrowUp: zoomBy(ZOOM),
  ArrowDown: zoomBy(1 / ZOOM),
  "+": zoomBy(ZOOM),
  "=": zoomBy(ZOOM),
  "-": zoomBy(1 / ZOOM),
  Home: (_, { startUs, endUs }) => ({ startUs, endUs }),
};

interface TracePanelProps {
  readonly client: Client;
  readonly run: ReadRun;
  readonly sizeBytes: number;
}

/** The trace of a run on lanes over time, and as the file that other viewers open. */
export function TracePanel({ client, run: { id, trace }, sizeBytes }: TracePanelProps) {
  const dropped = trace?.otherData.droppedEvents ?? 0;
  return (
    <section class="panel" aria-labelledby="trace">
      <div class="panel-head">
        <h2 id="trace">Trace</h2>
        <DownloadButton client={client} endpoint={runEndpoints.getRunTrace} id={id} fileName={`${id}-trace.json`}>
          {`Download trace (${formatBytes(sizeBytes)})`}
        </DownloadButton>
      </div>
      {trace === null && <p class="muted">It could not be read.</p>}
      {trace?.laid.lanes.length === 0 && <p class="muted">It holds no span.</p>}
      {trace !== null && trace.laid.lanes.length > 0 && <TraceTimeline key={id} trace={trace.laid} />}
      {trace !== null && (
        <p class="muted">
          <small>
            {dropped > 0 && `The ${formatNumber(dropped)} oldest events are left out. `}
            {trace.otherData.alignment} Perfetto and chrome://tracing open the file.
          </small>
        </p>
      )}
    </section>
  );
}
