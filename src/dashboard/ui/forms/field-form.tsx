import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { FormField } from "../../../words/form-fields.ts";
import { Field, FieldErrors } from "./field.tsx";
import { placeErrors, readForm } from "./read-form.ts";

interface FieldFormProps {
  /** Purpose of the form, for screen readers. */
  readonly label: string;
  /** Words of the button. */
  readonly submit: string;
  /** Sends what was filled in; what it throws is shown at the fields that it names. */
  readonly work: (body: Record<string, unknown>) => Promise<unknown>;
  /** Present in a form that was opened on request: it takes the focus and can be closed. */
  readonly onCancel?: () => void;
  /** In the order in which they stand. */
  readonly fields: readonly FormField[];
  /** Reports the option picked in a field. */
  readonly onPick?: (pointer: string, value: string) => void;
  /** Below the fields. */
  readonly children?: ComponentChildren;
}

/** A form that the edge judges: its fields are named by JSON pointers, and its problems are shown beside them. */
export function FieldForm({ label, submit, work, onCancel, fields, onPick, children }: FieldFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  useLayoutEffect(() => {
    if (onCancel !== undefined) form.current?.querySelector<HTMLElement>("input, select")?.focus();
  }, []);
  useLayoutEffect(() => {
    const controls = Array.from(form.current?.elements ?? [], (control) => control as HTMLElement);
    controls.find((control) => failure?.byField.has(control.getAttribute("name") ?? ""))?.focus();
  }, [failure]);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const element = form.current;
    if (element === null || isBusy) return;
    setBusy(true);
    setFailure(null);
    try {
      await work(readForm(element));
    } catch (error) {
      setFailure(describe(error, element));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form ref={form} class="api-form" aria-label={label} noValidate onSubmit={(event) => void send(event)}>
      <FieldErrors.Provider value={failure?.byField ?? NO_ERRORS}>
        {fields.map((field) => (
          <Field key={"heading" in field ? field.heading : field.pointer} field={field} onPick={onPick} />
        ))}
        {children}
      </FieldErrors.Provider>
      {failure !== null && failure.detail !== "" && (
        <p class="notice bad" role="alert">
          {failure.detail}
        </p>
      )}
      <div class="form-end">
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {submit}
        </button>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

interface Failure {
  readonly byField: ReadonlyMap<string, string>;
  /** Errors that belong to no field of the form. */
  readonly detail: string;
}

const NO_ERRORS: ReadonlyMap<string, string> = new Map();

function describe(error: unknown, form: HTMLFormElement): Failure {
  if (!(error instanceof ProblemError)) return { byField: NO_ERRORS, detail: (error as Error).message };
  const { detail, errors = [] } = error.problem;
  const names = Array.from(form.elements, (element) => element.getAttribute("name") ?? "");
  const { byField, others } = placeErrors(
    errors,
    names.filter((name) => name.startsWith("#/")),
  );
  if (byField.size === 0) return { byField, detail };
  return { byField, detail: others.map(({ pointer, message }) => `${pointer} ${message}`).join("; ") };
}
