import { useCallback, useEffect } from "preact/hooks";
import { EmptyState } from "../empty-state.tsx";
import { nextCommands } from "../next-commands.ts";
import { Panel } from "../panel.tsx";
import type { Change } from "../use-feed.ts";
import { useResource } from "../use-resource.ts";
import type { ViewProps } from "../view-props.ts";
import { readFleet } from "./read-fleet.ts";
import { RunnerDetail } from "./runner-detail.tsx";
import { RunnerTable } from "./runner-table.tsx";

/** Asking costs each runner a report. */
const FLEET_GAP_MS = 5_000;

/** The view of runners: all of them, and one by the second. */
export function RunnerView({ client, subscribe, address, onPick }: ViewProps) {
  const fleet = useResource(
    useCallback((signal: AbortSignal) => readFleet(client, signal), [client]),
    FLEET_GAP_MS,
  );
  useEffect(
    () =>
      subscribe((change: Change) => {
        if (change === "everything" || change === "runner" || change === "alert") fleet.refresh();
      }),
    [subscribe, fleet.refresh],
  );
  const { value, error } = fleet;
  const members = value ?? [];
  const picked = address.runner ?? (members.length === 1 ? members[0]?.runner.id : undefined);
  const shown = members.find(({ runner }) => runner.id === picked);
  const connected = members.filter(({ runner }) => runner.state === "online").length;
  return (
    <main id="content" tabIndex={-1} aria-busy={value === null && error === null}>
      <h1 class="unseen">Runners</h1>
      <Panel
        id="runners"
        title="Runners"
        resource={fleet}
        aside={
          members.length > 0 && (
            <span class="panel-end">
              <span class="muted">{`${connected} of ${members.length} online`}</span>
              <button type="button" onClick={fleet.refresh}>
                Ask again<span class="unseen"> how the runners are</span>
              </button>
            </span>
          )
        }
      >
        {value === null && error === null && <p class="muted loading">Asking the runners …</p>}
        {value?.length === 0 && (
          <EmptyState says="No runner is registered yet." command={nextCommands.registerRunner}>
            Make a one-time token, then start a runner with it on the machine that has the GPU:
          </EmptyState>
        )}
        {members.length > 0 && (
          <RunnerTable members={members} shown={shown?.runner.id ?? null} onShow={(runner) => onPick({ runner })} />
        )}
      </Panel>
      {value !== null && address.runner !== undefined && shown === undefined && (
        <p class="notice bad" role="alert">
          {`There is no runner ${address.runner}.`}
        </p>
      )}
      {shown !== undefined && (
        <RunnerDetail
          key={shown.runner.id}
          client={client}
          subscribe={subscribe}
          runner={shown.runner}
          onChange={fleet.refresh}
          onRemove={() => {
            onPick({ runner: undefined });
            fleet.refresh();
          }}
        />
      )}
    </main>
  );
}
