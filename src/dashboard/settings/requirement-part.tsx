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
        <table class="settings">
          <thead>
            <tr>
              <th scope="col">Set</th>
              <th scope="col">Requires</th>
              <th scope="col">Change</th>
            </tr>
          </thead>
          <tbody>
            {sets.value?.map((set) => (
              <tr key={set.name}>
                <th scope="row">
                  {set.name}
                  <small>{set.description}</small>
                </th>
                <td data-label="Requires">{set.requirements.map(describeRequirement).join("; ")}</td>
                <td data-label="Change">{actions(set)}</td>
              </tr>
            ))}
          </tbody>
        </table>
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
