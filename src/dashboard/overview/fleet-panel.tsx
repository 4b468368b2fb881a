import type { Runner, RunnerState } from "../../protocol/fleet/runner.ts";
import { Badge, DeviceNames } from "../ui/badges.tsx";
import { EmptyState, Fact, Panel } from "../ui/panels.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { writeAddress } from "../ui/page-address.ts";
import { isConnected, RUNNER_TONES } from "../../words/runners.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import type { Resource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Summary of the connected hardware, and a link to each runner. */
export function FleetPanel({ runners }: { runners: Resource<readonly Runner[]> }) {
  const items = runners.value ?? [];
  const online = items.filter(({ state }) => state === "online").length;
  return (
    <Panel
      id="runners"
      title="Runners"
      resource={runners}
      aside={items.length > 0 && <span class="muted">{`${online} of ${items.length} online`}</span>}
    >
      {items.length > 0 ? (
        <>
          <FleetFacts runners={items} />
          <DataTable
            class="runners"
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              {
                name: "Name",
                head: true,
                title: ({ id }) => id,
                cell: ({ id, name }) => <a href={writeAddress({ view: "runners", runner: id })}>{name}</a>,
              },
              { name: "State", cell: ({ state }) => <Badge tone={RUNNER_TONES[state]}>{state}</Badge> },
              {
                name: "Devices",
                wide: true,
                cell: ({ capabilities }) => <DeviceNames devices={capabilities?.devices ?? null} />,
              },
              { name: "Last seen", cell: ({ lastSeenAt }) => <Timestamp at={lastSeenAt} /> },
            ]}
          />
        </>
      ) : (
        runners.value !== null && (
          <EmptyState says="No runner is registered yet." command={nextCommands.registerRunner}>
            Make a one-time token, then start a runner with it on the machine that has the GPU:
          </EmptyState>
        )
      )}
    </Panel>
  );
}

/** Devices of what is connected: the others compute nothing. */
function FleetFacts({ runners }: { runners: readonly Runner[] }) {
  const devices = runners.filter(isConnected).flatMap(({ capabilities }) => capabilities?.devices ?? []);
  const gpus = devices.filter(({ kind, software }) => kind === "gpu" && !software).length;
  const cpus = devices.filter(({ kind }) => kind === "cpu").length;
  const states = Object.keys(RUNNER_TONES) as RunnerState[];
  return (
    <dl class="facts fleet-facts">
      {states.map((state) => {
        const count = runners.filter((runner) => runner.state === state).length;
        return count === 0 ? null : (
          <Fact key={state} name={state}>
            {count}
          </Fact>
        );
      })}
      <Fact name="GPUs connected">{gpus}</Fact>
      <Fact name="CPUs connected">{cpus}</Fact>
      {gpus + cpus < devices.length && <Fact name="software GPUs">{devices.length - gpus - cpus}</Fact>}
    </dl>
  );
}
