import { useState } from "preact/hooks";
import { SubjectKind } from "../../protocol/history/series.ts";
import { Statistic, type Threshold, type ThresholdInput, ThresholdTest } from "../../protocol/history/threshold.ts";
import { ApiForm } from "../ui/forms/api-form.tsx";
import { InputField, SelectField } from "../ui/forms/field.tsx";
import type { Closing } from "./part-shell.tsx";
import { TESTS } from "../../words/thresholds.ts";

/** Dimensions of the selector that the form has fields for; it leaves the others as they are. */
const FIELDS = ["subjectKind", "subject", "metric", "label", "variant"] as const;

interface ThresholdFormProps extends Closing {
  /** Null: a new one. */
  readonly threshold: Threshold | null;
  readonly work: (body: ThresholdInput) => Promise<unknown>;
}

/** The fields of a rule. */
export function ThresholdForm({ threshold, work, onDone, onCancel }: ThresholdFormProps) {
  const [test, setTest] = useState<ThresholdInput["test"]>(threshold?.test ?? "percentage");
  const selector = threshold?.selector ?? {};
  const { measure } = TESTS[test];
  const send = async (body: Record<string, unknown>) => {
    const others = Object.entries(selector).filter(([name]) => !FIELDS.some((field) => field === name));
    await work({
      ...body,
      selector: { ...Object.fromEntries(others), ...(body["selector"] as object) },
    } as ThresholdInput);
    onDone();
  };
  return (
    <ApiForm
      label={threshold === null ? "New threshold" : `Edit ${threshold.name}`}
      submit={threshold === null ? "Create the threshold" : "Save the threshold"}
      work={send}
      onCancel={onCancel}
    >
      <InputField name="#/name" label="Name" value={threshold?.name} required />
      <h3>Which series</h3>
      <SelectField
        name="#/selector/subjectKind"
        label="Kind of subject"
        options={[["", "any"], ...SubjectKind.options.map((kind) => [kind, kind] as const)]}
        value={selector.subjectKind}
      />
      <InputField name="#/selector/subject" label="Subject" hint="Such as gemm or lenet5@1" value={selector.subject} />
      <InputField name="#/selector/metric" label="Metric" hint="Such as wallMs" value={selector.metric} />
      <InputField name="#/selector/variant" label="Variant" value={selector.variant} />
      <InputField name="#/selector/label" label="Label" hint="Such as a branch" value={selector.label} />
      <h3>How points are judged</h3>
      <SelectField
        name="#/test"
        label="Test"
        options={ThresholdTest.options.map((name) => [name, TESTS[name].words] as const)}
        value={test}
        onPick={(name) => setTest(ThresholdTest.parse(name))}
      />
      <InputField name="#/upper" label="Upper limit" hint={measure} type="number" value={threshold?.upper} />
      <InputField name="#/lower" label="Lower limit" hint={measure} type="number" value={threshold?.lower} />
      <SelectField
        name="#/statistic"
        label="Of each point"
        options={Statistic.options.map((name) => [name, name] as const)}
        value={threshold?.statistic}
      />
      <InputField
        name="#/windowPoints"
        label="Points that count"
        hint="The latest ones"
        type="number"
        value={threshold?.windowPoints ?? 64}
      />
      <InputField
        name="#/minSample"
        label="Points at least"
        hint="With fewer there is no verdict"
        type="number"
        value={threshold?.minSample ?? 5}
      />
      <InputField
        name="#/consecutive"
        label="Points in a row"
        hint="Before it counts"
        type="number"
        value={threshold?.consecutive ?? 1}
      />
      <InputField
        name="#/noiseFloor"
        label="Noise floor"
        hint="Share of the baseline that counts as noise"
        type="number"
        value={threshold?.noiseFloor ?? 0.01}
      />
      <InputField
        name="#/minimumEffect"
        label="Smallest effect"
        hint="Share of the baseline; less never counts"
        type="number"
        value={threshold?.minimumEffect ?? 0}
      />
    </ApiForm>
  );
}
