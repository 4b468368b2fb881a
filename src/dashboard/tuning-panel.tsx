import { useCallback, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { StoredTuning } from "../protocol/tuning.ts";
import { EmptyState } from "./empty-state.tsx";
import { nextCommands } from "./next-commands.ts";
import { Panel } from "./panel.tsx";
import { TrialPlot } from "./trial-plot.tsx";
import { TrialTable } from "./trial-table.tsx";
import { TuningRow } from "./tuning-row.tsx";
import { type Resource, useResource } from "./use-resource.ts";

interface TuningPanelProps {
  readonly client: Client;
  readonly tunings: Resource<readonly StoredTuning[]>;
}

/** What searches found to be fastest, and the trials of one of them. */
export function TuningPanel({ client, tunings }: TuningPanelProps) {
  const items = tunings.value ?? [];
  const [picked, setPicked] = useState<string | null>(null);
  const shown = items.find(({ id }) => id === picked) ?? items[0];
  return (
    <Panel id="tunings" title="Tunings" resource={tunings}>
      {items.length > 0 ? (
        <>
          <table class="tunings">
            <thead>
              <tr>
                <th scope="col">Kernel</th>
                <th scope="col">Device</th>
                <th scope="col">Best</th>
                <th scope="col">Faster than the default</th>
                <th scope="col">Found</th>
                <th scope="col">Trials</th>
              </tr>
            </thead>
            <tbody>
              {items.map((tuning) => (
                <TuningRow
                  key={tuning.id}
                  tuning={tuning}
                  isShown={tuning.id === shown?.id}
                  onShow={() => setPicked(tuning.id)}
                />
              ))}
            </tbody>
          </table>
          {shown !== undefined && <Trials key={`${shown.id} ${shown.jobId}`} client={client} tuning={shown} />}
        </>
      ) : (
        tunings.value !== null && (
          <EmptyState says="Nothing has been tuned yet." command={nextCommands.submitTuning}>
            This searches gemm's variants and axes for the fastest that is right:
          </EmptyState>
        )
      )}
    </Panel>
  );
}

function Trials({ client, tuning: { id, kernel } }: { client: Client; tuning: StoredTuning }) {
  const { value, error } = useResource(
    useCallback((signal: AbortSignal) => client.call(endpoints.getTuning, { params: { id }, signal }), [client, id]),
  );
  return (
    <figure id="trials" class="trials-figure">
      {value === null ? (
        <>
          <div class="readout" />
          <div class="plot">
            <p class="muted plot-note">
              {error === null ? "Reading trials …" : `The trials could not be read: ${error.message}`}
            </p>
          </div>
        </>
      ) : (
        <>
          <TrialPlot {...value} />
          <TrialTable trials={value.trials} />
        </>
      )}
      <figcaption class="unseen">{`Trials of ${kernel}`}</figcaption>
    </figure>
  );
}
