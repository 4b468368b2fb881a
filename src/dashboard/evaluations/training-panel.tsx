import { useCallback } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import { EmptyState } from "../empty-state.tsx";
import { nextCommands } from "../next-commands.ts";
import { Panel } from "../panel.tsx";
import { useRefreshOn } from "../use-feed.ts";
import { useResource } from "../use-resource.ts";
import type { ViewProps } from "../view-props.ts";
import { ShownTraining } from "./shown-training.tsx";
import { TrainingTable } from "./training-table.tsx";

const JOBS_SHOWN = 20;

/** The latest trainings, and one of them in depth. */
export function TrainingPanel({ client, subscribe, address, onPick }: ViewProps) {
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listJobs, { query: { kind: "training", limit: JOBS_SHOWN }, signal })).items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "job", jobs.refresh);
  const { value, error } = jobs;
  const shown = address.job ?? value?.[0]?.id ?? null;
  return (
    <>
      <Panel id="trainings" title="Trainings" resource={jobs}>
        {value === null && error === null && <p class="muted loading">Reading trainings …</p>}
        {value?.length === 0 && (
          <EmptyState says="No policy has been trained yet." command={nextCommands.submitTraining}>
            This trains one to balance a pole on a cart, and serves it:
          </EmptyState>
        )}
        {value !== null && value.length > 0 && (
          <TrainingTable jobs={value} shown={shown} onShow={(job) => onPick({ job })} />
        )}
      </Panel>
      {shown !== null && <ShownTraining key={shown} client={client} subscribe={subscribe} id={shown} />}
    </>
  );
}
