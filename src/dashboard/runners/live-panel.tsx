import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { LiveEvent, type LiveReport } from "../../protocol/fleet/health.ts";
import type { Tone } from "../../words/tone.ts";
import { WordBadge } from "../ui/badges.tsx";
import { lineStyleOf, LiveChart } from "./live-chart.tsx";
import { keepRecent, type LiveQuantity, readQuantities, SHOWN_S } from "./live-quantities.ts";
import { DataTable } from "../ui/data-table.tsx";
import { capitalise } from "../ui/panels.tsx";

/** The charts' values as a table. */
function LiveTable({ quantities }: { quantities: readonly LiveQuantity[] }) {
  const rows = quantities.flatMap(({ name, format, lines }) =>
    lines.map((line) => ({ name, of: line.name, format, ...sumUp(line.values) })),
  );
  const figures = (["now", "least", "mean", "most"] as const).map((figure) => ({
    name: capitalise(figure),
    cell: ({ format, ...row }: (typeof rows)[number]) => (row[figure] === null ? "–" : format(row[figure])),
  }));
  return (
    <details>
      <summary>{`The last ${SHOWN_S} s as a table`}</summary>
      <DataTable
        rows={rows}
        keyOf={({ name, of }) => `${name} ${of}`}
        columns={[
          { name: "Quantity", head: true, cell: ({ name }) => name },
          { name: "Of", cell: ({ of }) => of },
          ...figures,
        ]}
      />
    </details>
  );
}

function sumUp(values: readonly (number | null)[]) {
  const known = values.filter((value) => value !== null);
  const now = values.at(-1) ?? null;
  if (known.length === 0) return { now, least: null, mean: null, most: null };
  const sum = known.reduce((total, value) => total + value, 0);
  return { now, least: Math.min(...known), mean: sum / known.length, most: Math.max(...known) };
}

/** The edge says something every 15 s at least; after three silent periods the connection is taken for dead. */
const SILENCE_MS = 45_000;

interface Live {
  /** `waiting` between two tries to connect, `ended` when trying again would not help. */
  readonly state: "connecting" | "online" | "offline" | "waiting" | "ended";
  /** Oldest first. */
  readonly reports: readonly LiveReport[];
}

const NOTHING: Live = { state: "connecting", reports: [] };

/** Watches a runner while the component is mounted: its reports of the last `SHOWN_S` seconds. */
function useLive(client: Client, id: string): Live {
  const [live, setLive] = useState(NOTHING);
  useEffect(() => {
    const abort = new AbortController();
    const become = (state: Live["state"]) => setLive(({ reports }) => ({ state, reports }));
    const take = (event: LiveEvent) => {
      if (event.type !== "report") return become(event.type);
      setLive(({ reports }) => ({ state: "online", reports: keepRecent(reports, event.report) }));
    };
    const follow = async () => {
      const stream = client.stream(runnerEndpoints.streamRunnerLive, {
        params: { id },
        schema: LiveEvent,
        reconnect: true,
        silenceMs: SILENCE_MS,
        signal: abort.signal,
        onState: (state) => (state === "waiting" ? become("waiting") : undefined),
      });
      for await (const { data } of stream) take(data);
    };
    setLive(NOTHING);
    follow().catch((error: unknown) => {
      console.warn("The runner cannot be watched any more:", error);
      become("ended");
    });
    return () => abort.abort();
  }, [client, id]);
  return live;
}

const STATES: Record<Live["state"], readonly [Tone, string]> = {
  connecting: ["busy", "connecting"],
  online: ["good", "told every second"],
  offline: ["bad", "not connected"],
  waiting: ["warn", "connecting again"],
  ended: ["bad", "cannot be watched"],
};

/** Activity of a runner, second by second while this is open. */
export function LivePanel({ client, id }: { client: Client; id: string }) {
  const { state, reports } = useLive(client, id);
  const quantities = useMemo(() => readQuantities(reports), [reports]);
  const timesS = useMemo(() => {
    const lastMs = Date.parse(reports.at(-1)?.at ?? "");
    return reports.map(({ at }) => (Date.parse(at) - lastMs) / 1_000);
  }, [reports]);
  return (
    <section class="panel" aria-labelledby="live">
      <div class="panel-head">
        <h2 id="live">Live</h2>
        <WordBadge says={STATES[state]} />
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
