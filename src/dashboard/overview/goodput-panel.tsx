import { PROBLEMS } from "../../protocol/wire/problem.ts";
import { EmptyState, Fact, Panel } from "../ui/panels.tsx";
import { formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";
import { nextCommands } from "../ui/next-commands.ts";
import type { Resource } from "../ui/hooks/use-resource.ts";
import type { Goodput } from "./goodput.ts";
import { GoodputPlot, MinuteTable, MissBars, reasonStyleOf } from "./goodput-figures.tsx";
import { DataTable } from "../ui/data-table.tsx";

/** Length of the recent window, which leaves out the current minute. */
const LATEST_MINUTES = 5;
const SECONDS_PER_MINUTE = 60;

/** Number of answered requests, and causes of refusals. Every answer that arrives is within its budget. */
export function GoodputPanel({ goodput }: { goodput: Resource<Goodput> }) {
  const { value } = goodput;
  const isIdle = value !== null && value.answered === 0 && value.missed.length === 0;
  return (
    <Panel
      id="goodput"
      title="Goodput"
      resource={goodput}
      aside={<span class="muted">the last hour, by the minute</span>}
    >
      {isIdle && (
        <EmptyState says="No request came in the last hour." command={nextCommands.infer}>
          Ask a model within a budget:
        </EmptyState>
      )}
      {value !== null && !isIdle && <Hour goodput={value} />}
    </Panel>
  );
}

function Hour({ goodput }: { goodput: Goodput }) {
  const { minutes, answered, predicted, inTime, missed } = goodput;
  const whole = minutes.slice(-LATEST_MINUTES - 1, -1);
  const latest = whole.reduce((sum, minute) => sum + minute.answered, 0) / (whole.length * SECONDS_PER_MINUTE || 1);
  const lost = missed.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <dl class="facts">
        <Fact name={`Answers in the last ${LATEST_MINUTES} min`}>{formatMeasure(latest, "a second")}</Fact>
        <Fact name="Answered in the hour">{formatNumber(answered)}</Fact>
        <Fact name="In time as predicted">
          {predicted === 0 ? "–" : `${formatShare(inTime / predicted)} of ${formatNumber(predicted)}`}
        </Fact>
        <Fact name="Without an answer">
          {lost === 0 ? "none" : `${formatNumber(lost)}, ${formatShare(lost / (lost + answered))}`}
        </Fact>
      </dl>
      <div class="goodput">
        <figure>
          <figcaption>Answers a second</figcaption>
          <div class="plot low">
            <GoodputPlot goodput={goodput} label={describe(goodput)} />
          </div>
        </figure>
        <figure>
          <figcaption>Requests without an answer</figcaption>
          <div class="plot low">
            <MissBars goodput={goodput} />
          </div>
        </figure>
      </div>
      {missed.length > 0 && <ReasonTable missed={missed} lost={lost} />}
      <MinuteTable minutes={minutes} />
    </>
  );
}

function ReasonTable({ missed, lost }: Pick<Goodput, "missed"> & { readonly lost: number }) {
  return (
    <DataTable
      class="reasons"
      caption="Requests without an answer, by reason"
      rows={missed}
      keyOf={({ reason }) => reason}
      columns={[
        {
          name: "Reason",
          head: true,
          cell: ({ reason }, index) => (
            <>
              <i class={`reason reason-${reasonStyleOf(index)}`} /> <a href={`/docs/problems#${reason}`}>{reason}</a>
              <small>{titleOf(reason)}</small>
            </>
          ),
        },
        { name: "Requests", cell: ({ count }) => formatNumber(count) },
        { name: "Share", cell: ({ count }) => formatShare(count / lost) },
      ]}
    />
  );
}

/** A newer edge may know further problems. */
function titleOf(reason: string): string {
  return reason in PROBLEMS ? PROBLEMS[reason as keyof typeof PROBLEMS].title : "";
}

function describe({ answered, minutes }: Goodput): string {
  return `Answers a second over ${minutes.length} minutes, ${formatNumber(answered)} in all`;
}
