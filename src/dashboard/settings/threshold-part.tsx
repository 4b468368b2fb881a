import { thresholdEndpoints } from "../../protocol/history/threshold-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import type { Threshold, ThresholdInput } from "../../protocol/history/threshold.ts";
import { EmptyState } from "../ui/panels.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { type PartProps, PartShell } from "./part-shell.tsx";
import { ThresholdForm } from "./threshold-form.tsx";
import { describeSelector, explainThreshold } from "../../words/thresholds.ts";
import { DataTable } from "../ui/data-table.tsx";

const PAGE = 100;

/** Rules by which points of the history are judged. */
export function ThresholdPart({ client }: PartProps) {
  const thresholds = useResource(
    useCallback(
      (signal: AbortSignal) =>
        Array.fromAsync(listAll(client, thresholdEndpoints.listThresholds, { query: { limit: PAGE }, signal })),
      [client],
    ),
  );
  return (
    <PartShell
      id="thresholds"
      title="Thresholds"
      noun="threshold"
      items={thresholds}
      explanation={
        "Every series is searched for steps and drifts by itself. A threshold is a rule of your own beside that: each " +
        "new point of the series that it selects is judged by the points before it, and what breaks the rule is an alert."
      }
      refusal={null}
      nameOf={({ name }) => name}
      keyOf={({ id }) => id}
      empty={
        <EmptyState says="There is no rule of your own yet." command={nextCommands.createThreshold}>
          Make one here, or by this:
        </EmptyState>
      }
      remove={({ id }) => client.call(thresholdEndpoints.deleteThreshold, { params: { id } })}
      form={(threshold, closing) => (
        <ThresholdForm threshold={threshold} {...closing} work={(body) => store(client, threshold, body)} />
      )}
      table={(actions) => (
        <DataTable
          class="settings thresholds"
          rows={thresholds.value ?? []}
          keyOf={(threshold) => threshold.id}
          columns={[
            {
              name: "Rule",
              head: true,
              title: (threshold) => threshold.id,
              cell: (threshold) => threshold.name,
              note: (threshold) => threshold.test,
            },
            { name: "Series", cell: (threshold) => describeSelector(threshold.selector) },
            { name: "What it says", wide: true, cell: (threshold) => explainThreshold(threshold) },
            { name: "Change", cell: (threshold) => actions(threshold) },
          ]}
        />
      )}
    />
  );
}

/** A rule is changed as it was read: another change in between is refused. */
function store(client: Client, threshold: Threshold | null, body: ThresholdInput): Promise<Threshold> {
  if (threshold === null) return client.call(thresholdEndpoints.createThreshold, { body });
  const { id, version } = threshold;
  return client.call(thresholdEndpoints.updateThreshold, {
    params: { id },
    headers: { "if-match": `"${version}"` },
    body,
  });
}
