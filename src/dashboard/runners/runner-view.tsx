import { useCallback, useEffect } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import { EmptyState } from "../empty-state.tsx";
import { nextCommands } from "../next-commands.ts";
import { Panel } from "../panel.tsx";
import type { Change } from "../use-feed.ts";
import { useResource } from "../use-resource.ts";
import type { ViewProps } from "../view-props.ts";
import { readDiagnoses } from "./read-diagnoses.ts";
import { RunnerDetail } from "./runner-detail.tsx";
import { RunnerTable } from "./runner-table.tsx";

/** Asking costs each runner a report. */
const DIAGNOSIS_GAP_MS = 5_000;

/** The view of runners: all of them, and one by the second. */
export function RunnerView({ client, subscribe, address, onPick }: ViewProps) {
  const runners = useResource(
    useCallback(async (signal: AbortSignal) => (await client.call(endpoints.listRunners, { signal })).items, [client]),
  );
  const diagnoses = useResource(
    useCallback((signal: AbortSignal) => readDiagnoses(client, signal), [client]),
    DIAGNOSIS_GAP_MS,
  );
  useEffect(
    () =>
      subscribe((change: Change) => {
        if (change === "everything" || change === "runner") runners.refresh();
        if (change !== "job" && change !== "history") diagnoses.refresh();
      }),
    [subscribe, runners.refresh, diagnoses.refresh],
  );
  const isReady = [runners, diagnoses].every(({ value, error }) => value !== null || error !== null);
  const items = (isReady ? runners.value : null) ?? [];
  const picked = address.runner ?? (items.length === 1 ? items[0]?.id : undefined);
  const shown = items.find(({ id }) => id === picked);
  return (
    <main id="content" tabIndex={-1} aria-busy={!isReady}>
      <h1 class="unseen">Runners</h1>
      <Panel
        id="runners"
        title="Runners"
        resource={runners}
        aside={
          items.length > 0 && (
            <span class="panel-end">
              <span class="muted">
                {`${items.filter(({ state }) => state === "online").length} of ${items.length} online`}
              </span>
              <button type="button" onClick={diagnoses.refresh}>
                Ask again<span class="unseen"> how the runners are</span>
              </button>
            </span>
          )
        }
      >
        {!isReady && <p class="muted loading">Asking the runners …</p>}
        {isReady && runners.value?.length === 0 && (
          <EmptyState says="No runner is registered yet." command={nextCommands.registerRunner}>
            Make a one-time token, then start a runner with it on the machine that has the GPU:
          </EmptyState>
        )}
        {items.length > 0 && (
          <RunnerTable
            runners={items}
            diagnoses={diagnoses.value ?? new Map()}
            shown={shown?.id ?? null}
            onShow={(runner) => onPick({ runner })}
          />
        )}
      </Panel>
      {isReady && address.runner !== undefined && shown === undefined && (
        <p class="notice bad" role="alert">
          {`There is no runner ${address.runner}.`}
        </p>
      )}
      {shown !== undefined && (
        <RunnerDetail
          key={shown.id}
          client={client}
          subscribe={subscribe}
          runner={shown}
          onChange={runners.refresh}
          onRemove={() => {
            onPick({ runner: undefined });
            runners.refresh();
          }}
        />
      )}
    </main>
  );
}
