import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import { validationEndpoints } from "../../protocol/jobs/validation.ts";
import type { RequirementSet, RequirementSetInput } from "../../protocol/models/requirement.ts";
import { EmptyState } from "../ui/panels.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { describeRequirement } from "../../words/validation.ts";
import { type PartProps, PartShell } from "./part-shell.tsx";
import { RequirementForm } from "./requirement-form.tsx";
import { DataTable } from "../ui/data-table.tsx";

const PAGE = 100;

/** Requirements under a name, for validations to be judged by. */
export function RequirementPart({ client }: PartProps) {
  const sets = useResource(
    useCallback(
      (signal: AbortSignal) =>
        Array.fromAsync(listAll(client, validationEndpoints.listRequirements, { query: { limit: PAGE }, signal })),
      [client],
    ),
  );
  return (
    <PartShell
      id="requirements"
      title="Requirement sets"
      noun="requirement set"
      items={sets}
      explanation={
        "What a validation is judged by, under a name that many validations can share. Those that were submitted " +
        "before a change keep what the set was then."
      }
      refusal={null}
      nameOf={({ name }) => name}
      keyOf={({ name }) => name}
      empty={
        <EmptyState says="There is no requirement set yet." command={nextCommands.createRequirements}>
          Make one here, or by this:
        </EmptyState>
      }
      remove={({ name }) => client.call(validationEndpoints.deleteRequirements, { params: { name } })}
      form={(set, closing) => <RequirementForm set={set} {...closing} work={(body) => store(client, set, body)} />}
      table={(actions) => (
        <DataTable
          class="settings"
          rows={sets.value ?? []}
          keyOf={(set) => set.name}
          columns={[
            { name: "Set", head: true, cell: (set) => set.name, note: (set) => set.description },
            { name: "Requires", cell: (set) => set.requirements.map(describeRequirement).join("; ") },
            { name: "Change", cell: (set) => actions(set) },
          ]}
        />
      )}
    />
  );
}

/** A set is changed as it was read: another change in between is refused. */
function store(client: Client, set: RequirementSet | null, body: RequirementSetInput): Promise<RequirementSet> {
  if (set === null) return client.call(validationEndpoints.createRequirements, { body });
  const headers = { "if-match": `"${set.version}"` };
  return client.call(validationEndpoints.updateRequirements, { params: { name: set.name }, headers, body });
}
