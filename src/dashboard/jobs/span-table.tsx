import { useState } from "preact/hooks";
import { formatTime } from "../../words/numbers.ts";
import type { LaidSpan, SpanSum, TraceStretch } from "./lay-out-trace.ts";
import { DataTable } from "../ui/data-table.tsx";

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
      <DataTable
        class="points"
        caption="Spans by name"
        rows={sums}
        keyOf={({ name, lane }) => `${lane} ${name}`}
        columns={[
          { name: "Span", head: true, cell: ({ name }) => name, note: ({ lane }) => lane },
          { name: "Count", cell: ({ count }) => count },
          { name: "In all", cell: ({ totalUs }) => formatTime(totalUs) },
          { name: "Mean", cell: ({ count, totalUs }) => formatTime(totalUs / count) },
          {
            name: "Longest",
            cell: ({ name, longest }) => (
              <button type="button" class="link" onClick={() => onShow(longest)}>
                {formatTime(longest.endUs - longest.startUs)}
                <span class="unseen">{`: show the longest ${name}`}</span>
              </button>
            ),
          },
        ]}
      />
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
      <DataTable
        class="points"
        rows={spans.slice(0, SPANS_LISTED)}
        keyOf={(_, index) => index}
        columns={[
          { name: "Begins", cell: (span) => formatTime(span.startUs) },
          { name: "Lasts", cell: (span) => formatTime(span.endUs - span.startUs) },
          { name: "Repetition", cell: (span) => span.run ?? "–" },
          {
            name: "Span",
            cell: (span) => (
              <button type="button" class="link" onClick={() => onShow(span)}>
                {span.name}
              </button>
            ),
          },
        ]}
      />
      {spans.length > SPANS_LISTED && (
        <p class="muted">{`and ${spans.length - SPANS_LISTED} more: zoom in to list them`}</p>
      )}
    </div>
  );
}
