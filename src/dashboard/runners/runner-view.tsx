import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useCallback, useEffect } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Diagnosis } from "../../protocol/fleet/health.ts";
import { isConnected } from "../../words/runners.ts";
import type { Change } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import type { ViewProps } from "../ui/view-props.ts";
import { RunnerDetail } from "./runner-detail.tsx";
import { RunnerTable } from "./runner-table.tsx";

/** Asking costs each runner a report: of more than these none is asked. */
const ASKED_RUNNERS = 50;

/**
 * Diagnosis of each connected runner by its id, all asked in parallel; one without a reply is left out. Runners of
 * other projects answer their owners only.
 */
async function readDiagnoses(client: Client, signal: AbortSignal): Promise<ReadonlyMap<string, Diagnosis>> {
  const { items } = await client.call(runnerEndpoints.listRunners, { signal });
  const asked = items.filter((runner) => runner.owned && isConnected(runner)).slice(0, ASKED_RUNNERS);
  const told = await Promise.all(
    asked.map(({ id }) =>
      client.call(runnerEndpoints.getRunnerDiagnosis, { params: { id }, signal }).catch(() => null),
    ),
  );
  return new Map(told.flatMap((diagnosis) => (diagnosis === null ? [] : [[diagnosis.runnerId, diagnosis] as const])));
}

/** Asking costs each runner a report. */
const DIAGNOSIS_GAP_MS = 5_000;

/** The view of runners: all of them, and one by the second. */
export function RunnerView({ client, subscribe, address, onPick }: ViewProps) {
  const runners = useResource(
    useCallback(
      async (signal: AbortSignal) => (await client.call(runnerEndpoints.listRunners, { signal })).items,
      [client],
    ),
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
