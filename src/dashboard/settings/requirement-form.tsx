import { useState } from "preact/hooks";
import {
  RequiredMetric,
  type Requirement,
  type RequirementSet,
  type RequirementSetInput,
} from "../../protocol/models/requirement.ts";
import { LoadPath, ScenarioKind } from "../../protocol/models/scenario.ts";
import type { FormField } from "../../words/form-fields.ts";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { METRICS, PATHS, SCENARIOS } from "../../words/validation.ts";
import type { Closing } from "./part-shell.tsx";

interface RequirementFormProps extends Closing {
  /** Null: a new one. */
  readonly set: RequirementSet | null;
  readonly work: (body: RequirementSetInput) => Promise<unknown>;
}

/** The fields of a requirement set, a row for each requirement. */
export function RequirementForm({ set, work, onDone, onCancel }: RequirementFormProps) {
  const [rows, setRows] = useState<readonly (Requirement | null)[]>(set?.requirements ?? [null]);
  const send = async (body: Record<string, unknown>) => {
    await work(body as RequirementSetInput);
    onDone();
  };
  return (
    <FieldForm
      label={set === null ? "New requirement set" : `Edit ${set.name}`}
      submit={set === null ? "Create the set" : "Save the set"}
      work={send}
      onCancel={onCancel}
      fields={[
        ...(set === null ? [{ kind: "text", pointer: "#/name", label: "Name", required: true } as const] : []),
        { kind: "text", pointer: "#/description", label: "Description", value: set?.description },
        ...rows.flatMap(listFields),
      ]}
    >
      <div class="form-end">
        <button type="button" onClick={() => setRows([...rows, null])}>
          One more requirement
        </button>
        {rows.length > 1 && (
          <button type="button" onClick={() => setRows(rows.slice(0, -1))}>
            Leave out the last
          </button>
        )}
      </div>
    </FieldForm>
  );
}

function listFields(requirement: Requirement | null, index: number): FormField[] {
  const at = (field: string) => `#/requirements/${index}/${field}`;
  const { metric, atMost, atLeast, percentile, scenario, path } = requirement ?? {};
  const metrics = RequiredMetric.options.map((each) => [each, METRICS[each]] as const);
  const scenarios = ScenarioKind.options.map((each) => [each, SCENARIOS[each]] as const);
  const paths = LoadPath.options.map((each) => [each, PATHS[each]] as const);
  const anyScenario = ["", "each that measures it"] as const;
  const anyPath = ["", "each that is measured"] as const;
  return [
    { heading: `Requirement ${index + 1}` },
    { kind: "select", pointer: at("metric"), label: "What", options: metrics, value: metric },
    { kind: "number", pointer: at("atMost"), label: "At most", hint: "ms, bytes, or a share of 1", value: atMost },
    { kind: "number", pointer: at("atLeast"), label: "At least", hint: "a second, or a share of 1", value: atLeast },
    {
      kind: "number",
      pointer: at("percentile"),
      label: "Percentile",
      hint: "Of a latency: 0.99 where it is empty",
      value: percentile,
    },
    {
      kind: "select",
      pointer: at("scenario"),
      label: "Scenario",
      options: [anyScenario, ...scenarios],
      value: scenario,
    },
    { kind: "select", pointer: at("path"), label: "Path", options: [anyPath, ...paths], value: path },
  ];
}
