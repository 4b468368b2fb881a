import { useState } from "preact/hooks";
import { formatTime } from "../../words/numbers.ts";
import type { LaidSpan, SpanSum, TraceStretch } from "./lay-out-trace.ts";

const SPANS_LISTED = 200;

interface SpanTableProps {
  readonly sums: readonly SpanSum[];
  /** In order of their beginning. */
  readonly spans: readonly LaidSpan[];
  readonly shown: TraceStretch;
  readonly onShow: (span: LaidSpan) => void;
}

/** The spans of a trace by name, and those in sight one by one. */
export function SpanTable({ sums, spans, shown, onShow }: SpanTableProps) {
  const [isOpen, setOpen] = useState(false);
  const inSight = spans.filter(({ startUs, endUs }) => startUs <= shown.endUs && endUs >= shown.startUs);
  return (
    <>
      <table class="points">
        <caption class="unseen">Spans by name</caption>
        <thead>
          <tr>
            <th scope="col">Span</th>
            <th scope="col">Count</th>
            <th scope="col">In all</th>
            <th scope="col">Mean</th>
            <th scope="col">Longest</th>
          </tr>
        </thead>
        <tbody>
          {sums.map(({ name, lane, count, totalUs, longest }) => (
            <tr key={`${lane} ${name}`}>
              <th scope="row">
                {name}
                <small>{lane}</small>
              </th>
              <td data-label="Count">{count}</td>
              <td data-label="In all">{formatTime(totalUs)}</td>
              <td data-label="Mean">{formatTime(totalUs / count)}</td>
              <td data-label="Longest">
                <button type="button" class="link" onClick={() => onShow(longest)}>
                  {formatTime(longest.endUs - longest.startUs)}
                  <span class="unseen">{`: show the longest ${name}`}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{`${inSight.length} spans in sight as a table`}</summary>
        {isOpen && <ListedSpans spans={inSight} onShow={onShow} />}
      </details>
    </>
  );
}

function ListedSpans({ spans, onShow }: Pick<SpanTableProps, "spans" | "onShow">) {
  return (
    <div class="log" role="region" aria-label="Spans in sight" tabIndex={0}>
      <table class="points">
        <thead>
          <tr>
            <th scope="col">Begins</th>
            <th scope="col">Lasts</th>
            <th scope="col">Repetition</th>
            <th scope="col">Span</th>
          </tr>
        </thead>
        <tbody>
          {spans.slice(0, SPANS_LISTED).map((span, index) => (
            <tr key={index}>
              <td>{formatTime(span.startUs)}</td>
              <td>{formatTime(span.endUs - span.startUs)}</td>
              <td>{span.run ?? "–"}</td>
              <td>
                <button type="button" class="link" onClick={() => onShow(span)}>
                  {span.name}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {spans.length > SPANS_LISTED && (
        <p class="muted">{`and ${spans.length - SPANS_LISTED} more: zoom in to list them`}</p>
      )}
    </div>
  );
}
