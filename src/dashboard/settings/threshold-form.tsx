import { useState } from "preact/hooks";
import { SubjectKind } from "../../protocol/history/series.ts";
import { Statistic, type Threshold, type ThresholdInput, ThresholdTest } from "../../protocol/history/threshold.ts";
import { type FormField, plainOptions } from "../../words/form-fields.ts";
import { FieldForm } from "../ui/forms/field-form.tsx";
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
  const send = async (body: Record<string, unknown>) => {
    const others = Object.entries(threshold?.selector ?? {}).filter(
      ([name]) => !FIELDS.some((field) => field === name),
    );
    await work({
      ...body,
      selector: { ...Object.fromEntries(others), ...(body["selector"] as object) },
    } as ThresholdInput);
    onDone();
  };
  return (
    <FieldForm
      label={threshold === null ? "New threshold" : `Edit ${threshold.name}`}
      submit={threshold === null ? "Create the threshold" : "Save the threshold"}
      work={send}
      onCancel={onCancel}
      fields={listFields(threshold, test)}
      onPick={(pointer, value) => pointer === "#/test" && setTest(ThresholdTest.parse(value))}
    />
  );
}

function listFields(threshold: Threshold | null, test: ThresholdInput["test"]): FormField[] {
  const selector = threshold?.selector ?? {};
  const { measure } = TESTS[test];
  const kinds = [["", "any"] as const, ...plainOptions(SubjectKind.options)];
  const tests = ThresholdTest.options.map((name) => [name, TESTS[name].words] as const);
  const number = (name: keyof Threshold, label: string, hint: string, value: number | undefined): FormField => ({
    kind: "number",
    pointer: `#/${name}`,
    label,
    hint,
    value,
  });
  const select = (name: string, label: string, hint?: string): FormField => ({
    kind: "text",
    pointer: `#/selector/${name}`,
    label,
    hint,
    value: selector[name as (typeof FIELDS)[number]],
  });
  return [
    { kind: "text", pointer: "#/name", label: "Name", value: threshold?.name, required: true },
    { heading: "Which series" },
    {
      kind: "select",
      pointer: "#/selector/subjectKind",
      label: "Kind of subject",
      options: kinds,
      value: selector.subjectKind,
    },
    select("subject", "Subject", "Such as gemm or lenet5@1"),
    select("metric", "Metric", "Such as wallMs"),
    select("variant", "Variant"),
    select("label", "Label", "Such as a branch"),
    { heading: "How points are judged" },
    { kind: "select", pointer: "#/test", label: "Test", options: tests, value: test },
    number("upper", "Upper limit", measure, threshold?.upper),
    number("lower", "Lower limit", measure, threshold?.lower),
    {
      kind: "select",
      pointer: "#/statistic",
      label: "Of each point",
      options: plainOptions(Statistic.options),
      value: threshold?.statistic,
    },
    number("windowPoints", "Points that count", "The latest ones", threshold?.windowPoints ?? 64),
    number("minSample", "Points at least", "With fewer there is no verdict", threshold?.minSample ?? 5),
    number("consecutive", "Points in a row", "Before it counts", threshold?.consecutive ?? 1),
    number("noiseFloor", "Noise floor", "Share of the baseline that counts as noise", threshold?.noiseFloor ?? 0.01),
    number(
      "minimumEffect",
      "Smallest effect",
      "Share of the baseline; less never counts",
      threshold?.minimumEffect ?? 0,
    ),
  ];
}
