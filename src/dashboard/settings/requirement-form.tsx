import { useState } from "preact/hooks";
import {
  RequiredMetric,
  type Requirement,
  type RequirementSet,
  type RequirementSetInput,
} from "../../protocol/models/requirement.ts";
import { ScenarioKind } from "../../protocol/models/scenario.ts";
import { ApiForm } from "../ui/forms/api-form.tsx";
import { InputField, SelectField } from "../ui/forms/field.tsx";
import { METRICS, SCENARIOS } from "../../words/validation.ts";
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
    <ApiForm
      label={set === null ? "New requirement set" : `Edit ${set.name}`}
      submit={set === null ? "Create the set" : "Save the set"}
      work={send}
      onCancel={onCancel}
    >
      {set === null && <InputField name="#/name" label="Name" required />}
      <InputField name="#/description" label="Description" value={set?.description} />
      {rows.map((row, index) => (
        <Row key={index} index={index} requirement={row} />
      ))}
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
    </ApiForm>
  );
}

function Row({ index, requirement }: { index: number; requirement: Requirement | null }) {
  const at = (field: string) => `#/requirements/${index}/${field}`;
  return (
    <>
      <h3>{`Requirement ${index + 1}`}</h3>
      <SelectField
        name={at("metric")}
        label="What"
        options={RequiredMetric.options.map((metric) => [metric, METRICS[metric]] as const)}
        value={requirement?.metric}
      />
      <InputField
        name={at("atMost")}
        label="At most"
        hint="ms, bytes, or a share of 1"
        type="number"
        value={requirement?.atMost}
      />
      <InputField
        name={at("atLeast")}
        label="At least"
        hint="a second, or a share of 1"
        type="number"
        value={requirement?.atLeast}
      />
      <InputField
        name={at("percentile")}
        label="Percentile"
        hint="Of a latency: 0.99 where it is empty"
        type="number"
        value={requirement?.percentile}
      />
      <SelectField
        name={at("scenario")}
        label="Scenario"
        options={[
          ["", "each that measures it"],
          ...ScenarioKind.options.map((kind) => [kind, SCENARIOS[kind]] as const),
        ]}
        value={requirement?.scenario}
      />
      <SelectField
        name={at("path")}
        label="Path"
        options={[
          ["", "each that is measured"],
          ["edge", "through the edge"],
          ["runner", "on the runner"],
        ]}
        value={requirement?.path}
      />
    </>
  );
}
