import { useMemo } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { Badge, type Tone } from "../badge.tsx";
import { LiveChart, lineStyleOf } from "./live-chart.tsx";
import { type LiveQuantity, readQuantities } from "./live-quantities.ts";
import { LiveTable } from "./live-table.tsx";
import { type Live, useLive } from "./use-live.ts";

const STATES: Record<Live["state"], readonly [Tone, string]> = {
  connecting: ["busy", "connecting"],
  online: ["good", "told every second"],
  offline: ["bad", "not connected"],
  waiting: ["warn", "connecting again"],
  ended: ["bad", "cannot be watched"],
};

/** What a runner does, by the second while this is open. */
export function LivePanel({ client, id }: { client: Client; id: string }) {
  const { state, reports } = useLive(client, id);
  const quantities = useMemo(() => readQuantities(reports), [reports]);
  const timesS = useMemo(() => {
    const lastMs = Date.parse(reports.at(-1)?.at ?? "");
    return reports.map(({ at }) => (Date.parse(at) - lastMs) / 1_000);
  }, [reports]);
  const [tone, words] = STATES[state];
  return (
    <section class="panel" aria-labelledby="live">
      <div class="panel-head">
        <h2 id="live">Live</h2>
        <Badge tone={tone}>{words}</Badge>
      </div>
      <div class="live-charts">
        {quantities.map((quantity) => (
          <LiveFigure key={quantity.name} quantity={quantity} timesS={timesS} state={state} />
        ))}
      </div>
      <LiveTable quantities={quantities} />
    </section>
  );
}

interface LiveFigureProps {
  readonly quantity: LiveQuantity;
  readonly timesS: readonly number[];
  readonly state: Live["state"];
}

function LiveFigure({ quantity, timesS, state }: LiveFigureProps) {
  const { name, format, lines } = quantity;
  return (
    <figure>
      <figcaption>{name}</figcaption>
      <div class="readout">
        {lines.map((line, index) => {
          const value = line.values.at(-1);
          return (
            <span key={line.name}>
              <i class={`swatch line-${lineStyleOf(index)}`} /> {line.name} <b>{value == null ? "–" : format(value)}</b>
            </span>
          );
        })}
      </div>
      <div class="plot low">
        {lines.length > 0 ? (
          <LiveChart quantity={quantity} timesS={timesS} />
        ) : (
          <p class="muted plot-note">{sayWhyEmpty(timesS.length, state)}</p>
        )}
      </div>
    </figure>
  );
}

function sayWhyEmpty(reports: number, state: Live["state"]): string {
  if (reports > 0) return "Cannot be read on this machine.";
  return state === "offline" ? "Nothing comes while the runner is not connected." : "Waiting for the first report …";
}
