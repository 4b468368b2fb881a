import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { JobSummary } from "../../protocol/jobs/job.ts";
import type { Model } from "../../protocol/models/model.ts";
import type { PolicyCard } from "../../protocol/models/policy-network.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { describeEstimate } from "../../words/kinds/kind.ts";
import { PAGE_NUMBERS } from "../../words/numbers.ts";
import { training } from "../../words/kinds/training.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import type { Resource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";

interface PolicyPanelProps {
  readonly client: Client;
  readonly jobs: Resource<readonly JobSummary[]>;
  readonly models: Resource<readonly Model[]>;
}

/** The latest training's curve, as it grows, and the policies that trainings published. */
export function PolicyPanel({ client, jobs, models }: PolicyPanelProps) {
  const latest = jobs.value?.find(({ spec, state }) => spec.kind === training.kind && hasCurve(state));
  const policies = (models.value ?? []).flatMap(({ name, versions }) =>
    versions.flatMap(({ version, card }) => (card === null ? [] : [{ name: `${name}@${version}`, card }])),
  );
  return (
    <Panel id="policies" title="Policies" resource={models}>
      {latest !== undefined && <Curve client={client} job={latest} />}
      {policies.length > 0 && <PolicyTable policies={policies} />}
      {latest === undefined && policies.length === 0 && models.value !== null && (
        <EmptyState says="No policy has been trained yet." command={nextCommands.submitTraining}>
          This trains one to balance a pole on a cart, and serves it:
        </EmptyState>
      )}
    </Panel>
  );
}

/** One that failed may have none. */
function hasCurve(state: JobSummary["state"]): boolean {
  return state === "leased" || state === "succeeded";
}

function Curve({ client, job: { id, state, spec, progress } }: { client: Client; job: JobSummary }) {
  return (
    <figure>
      <SvgPlot
        client={client}
        endpoint={plotEndpoints.plotLearning}
        id={id}
        moment={`${state} ${progress?.done ?? 0}`}
      />
      <figcaption class="unseen">
        {spec.kind === training.kind && `Learning curve of the latest training, in ${spec.environment}`}
      </figcaption>
    </figure>
  );
}

function PolicyTable({ policies }: { policies: readonly { readonly name: string; readonly card: PolicyCard }[] }) {
  return (
    <DataTable
      class="policies"
      rows={policies}
      keyOf={({ name }) => name}
      columns={[
        { name: "Policy", head: true, cell: ({ name }) => name },
        { name: "Environment", cell: ({ card: { environment } }) => environment },
        {
          name: "Trained by",
          cell: ({ card }) => card.training?.algorithm ?? "–",
          note: ({ card }) =>
            card.training !== null && `${card.training.generations} generations, ${card.training.steps} steps`,
        },
        { name: "Return on fresh episodes", cell: ({ card: { scores } }) => describeScore(scores[0]) },
      ]}
    />
  );
}

/** The latest. */
function describeScore(score: PolicyCard["scores"][number] | undefined): string {
  if (score === undefined) return "–";
  return `${describeEstimate(score.mean, PAGE_NUMBERS)} over ${score.episodes} episodes`;
}
