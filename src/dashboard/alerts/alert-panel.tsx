import { historyEndpoints } from "../../protocol/history/history-endpoints.ts";
import { alertEndpoints } from "../../protocol/history/alert-endpoints.ts";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { type Alert, AlertState } from "../../protocol/history/alert.ts";
import { AlertItem } from "./alert-item.tsx";
import { ALERT_STATES, orderAlerts } from "../../words/alerts.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";

const ALERTS_READ = 50;

/** The third view: what moved in the history, the open alerts first, and what people made of it. */
export function AlertPanel(props: ViewProps) {
  const { client, subscribe, address, onPick, writer } = props;
  const state = AlertState.options.find((name) => name === address.state) ?? null;
  const alerts = useResource(useCallback((signal: AbortSignal) => readAlerts(client, state, signal), [client, state]));
  useRefreshOn(subscribe, "alert", alerts.refresh);
  const [said, setSaid] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const { value, error } = alerts;
  const told = writer.refusal ?? writer.failure ?? said;
  return (
    <main id="content" tabIndex={-1} aria-busy={value === null && error === null}>
      <h1 class="unseen">Alerts</h1>
      <Panel
        id="alerts"
        title="Alerts"
        resource={alerts}
        aside={<StateFilter picked={state} onPick={(name) => onPick({ state: name ?? undefined, alert: undefined })} />}
      >
        <p class={told === "" ? "alert-said muted" : "alert-said"} role="status">
          {told}
        </p>
        <div ref={list} tabIndex={-1} class="alert-list">
          {value === null && error === null && <p class="muted loading">Reading alerts …</p>}
          {value?.map((alert) => (
            <AlertItem
              key={alert.id}
              client={client}
              writer={writer}
              alert={alert}
              isOpen={alert.id === address.alert}
              onToggle={(isOpen) => onPick({ alert: isOpen ? alert.id : undefined })}
              onDone={(what) => {
                setSaid(what);
                alerts.refresh();
                // The button that was pressed goes away with the state that it belonged to.
                list.current?.focus({ preventScroll: true });
              }}
            />
          ))}
          {value?.length === 0 && (state === null ? <NothingMoved client={client} /> : <NoneOf state={state} />)}
        </div>
      </Panel>
    </main>
  );
}

async function readAlerts(client: Client, state: AlertState | null, signal: AbortSignal): Promise<Alert[]> {
  const read = async (query: { state?: AlertState }) =>
    (await client.call(alertEndpoints.listAlerts, { query: { ...query, limit: ALERTS_READ }, signal })).items;
  if (state !== null) return read({ state });
  // An open alert may be older than many that are closed.
  const [open, all] = await Promise.all([read({ state: "open" }), read({})]);
  return orderAlerts([...open, ...all]);
}

function StateFilter({ picked, onPick }: { picked: AlertState | null; onPick: (state: AlertState | null) => void }) {
  const options = [null, ...AlertState.options];
  return (
    <fieldset class="windows">
      <legend class="unseen">State</legend>
      {options.map((state) => (
        <label key={state}>
          <input
            type="radio"
            name="state"
            value={state ?? "all"}
            checked={state === picked}
            onChange={() => onPick(state)}
          />
          <span>{state ?? "all"}</span>
        </label>
      ))}
    </fieldset>
  );
}

function NoneOf({ state }: { state: AlertState }) {
  return <p class="muted">{`No alert is ${ALERT_STATES[state][1]}.`}</p>;
}

/** Scope of the search, so that "no alerts" differs visibly from "nothing searched". */
function NothingMoved({ client }: { client: Client }) {
  const [count, setCount] = useState<string | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    client.call(historyEndpoints.listSeries, { query: { limit: 100 }, signal: abort.signal }).then(
      ({ items, nextCursor }) => setCount(`${items.length}${nextCursor === null ? "" : "+"} series`),
      () => undefined,
    );
    return () => abort.abort();
  }, [client]);
  return (
    <EmptyState says="Nothing has moved." command={nextCommands.searchAgain}>
      {`Every series${count === null ? "" : ` (${count} so far)`} is searched as its points land: for steps and drifts that `}
      stand out of its own noise and last, and by your thresholds. A lone spike alerts nobody. What moves on three
      subjects of one device at once is told as one alert, of the machine. This searches one subject again, whole:
    </EmptyState>
  );
}
