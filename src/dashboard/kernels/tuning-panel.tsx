import { kernelEndpoints } from "../../protocol/kernels/kernel-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { ListedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import type { StoredTuning, TuningTrial } from "../../protocol/jobs/tuning.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { LandscapeFigure } from "./landscape-figure.tsx";
import { TrialPlot } from "./trial-plot.tsx";
import { TuningTable } from "../ui/tuning-table.tsx";
import { TRIAL_OUTCOMES } from "../../words/kinds/tuning.ts";
import { describeSizes, formatMeasure } from "../../words/numbers.ts";
import { WordBadge } from "../ui/badges.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { medianOfLast } from "./trials.ts";

/** Every candidate with what became of it, and why. */
function TrialTable({ trials }: { trials: readonly TuningTrial[] }) {
  return (
    <details>
      <summary>{`All ${trials.length} candidates as a table`}</summary>
      <DataTable
        class="trials"
        rows={trials}
        keyOf={({ variant, axes }) => `${variant} ${describeSizes(axes)}`}
        columns={[
          {
            name: "Candidate",
            head: true,
            cell: ({ variant, axes }) => (
              <>
                {variant} <span class="kind">{describeSizes(axes)}</span>
              </>
            ),
          },
          { name: "Outcome", cell: ({ outcome }) => <WordBadge says={TRIAL_OUTCOMES[outcome]} /> },
          { name: "Last rung", cell: (trial) => formatMeasure(medianOfLast(trial), "ms") },
          { name: "Runs by rung", cell: ({ rungsMs }) => rungsMs.map((runs) => runs.length).join(", ") || "–" },
          { name: "Reason", cell: ({ reason }) => reason ?? "–" },
        ]}
      />
    </details>
  );
}

const TUNINGS_SHOWN = 20;
const TUNING_GAP_MS = 2_000;

interface TuningPanelProps extends ViewProps {
  /** Tunings of this one alone; absent: the latest of all. */
  readonly kernel?: ListedKernel;
}

/** The fastest choices that searches found, and the trials of one of them. */
export function TuningPanel(props: TuningPanelProps) {
  const { client, subscribe, address, onPick, kernel } = props;
  const name = kernel?.name;
  const isOwn = kernel?.source === "submitted";
  const tunings = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        if (isOwn) return [];
        const query = { limit: TUNINGS_SHOWN, ...(name !== undefined && { kernel: name }) };
        return (await client.call(kernelEndpoints.listTunings, { query, signal })).items;
      },
      [client, name, isOwn],
    ),
    TUNING_GAP_MS,
  );
  useRefreshOn(subscribe, "history", tunings.refresh);
  const items = tunings.value ?? [];
  const shown = items.find(({ id }) => id === address.tuning) ?? items[0];
  return (
    <Panel id="tunings" title="Tunings" resource={tunings}>
      {tunings.value === null && tunings.error === null && <p class="muted loading">Reading tunings …</p>}
      {isOwn && <p class="muted">A submitted kernel has one variant, and nothing to tune.</p>}
      {tunings.value?.length === 0 && !isOwn && (
        <EmptyState says="Nothing has been tuned yet." command={nextCommands.tuneKernel(name ?? "gemm")}>
          {`This searches ${name ?? "gemm"}'s variants and axes for the fastest that is right:`}
        </EmptyState>
      )}
      {items.length > 0 && (
        <TuningTable
          tunings={items}
          shown={shown?.id ?? null}
          onShow={({ id }) => onPick({ tuning: id, axes: undefined })}
        />
      )}
      {shown !== undefined && (
        <Trials
          key={`${shown.id} ${shown.jobId}`}
          client={client}
          tuning={shown}
          axes={address.axes ?? null}
          onAxes={(axes) => onPick({ tuning: shown.id, axes })}
        />
      )}
    </Panel>
  );
}

interface TrialsProps {
  readonly client: Client;
  readonly tuning: StoredTuning;
  readonly axes: string | null;
  readonly onAxes: (axes: string) => void;
}

function Trials({ client, tuning: { id, kernel }, axes, onAxes }: TrialsProps) {
  const { value, error } = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(kernelEndpoints.getTuning, { params: { id }, signal }),
      [client, id],
    ),
  );
  return (
    <>
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
      {value !== null && <LandscapeFigure record={value} picked={axes} onPick={onAxes} />}
    </>
  );
}
