import { type ComponentChildren, createContext } from "preact";
import { useContext, useId } from "preact/hooks";
import type { FormField } from "../../../words/form-fields.ts";

/** Errors of the enclosing form's fields, by JSON pointer. */
export const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

type Named = Exclude<FormField, { heading: string }>;
type FieldOf<Kind extends Named["kind"]> = Extract<Named, { kind: Kind }>;

/** Attributes that tie a control to its hint and to what is wrong with it. */
interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

interface LabelledProps {
  readonly field: Named;
  readonly children: (control: ControlProps) => ComponentChildren;
}

/** A control under its label, with its hint, and what the edge says is wrong with it. */
function Labelled({ field: { pointer, label, hint }, children }: LabelledProps) {
  const id = useId();
  const error = useContext(FieldErrors).get(pointer);
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name: pointer,
        "aria-invalid": error !== undefined,
        "aria-describedby": described.filter(Boolean).join(" ") || undefined,
      })}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
      {error !== undefined && (
        <small id={`${id}-error`} class="field-error">
          {error}
        </small>
      )}
    </div>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly onPick?: ((pointer: string, value: string) => void) | undefined;
}

/** One field of a form, or a heading between them. */
export function Field({ field, onPick }: FieldProps) {
  if ("heading" in field) return <h3>{field.heading}</h3>;
  if (field.kind === "choices") return <Choices field={field} />;
  if (field.kind === "select") return <Select field={field} onPick={onPick} />;
  return (
    <Labelled field={field}>
      {(control) => {
        if (field.kind === "files")
          return <input {...control} type="file" accept={field.accept} multiple={field.isList} />;
        const shared = { ...control, defaultValue: String(field.value ?? ""), autoComplete: "off", spellcheck: false };
        return field.kind === "number" ? (
          <input {...shared} type="number" step="any" data-factor={field.factor} />
        ) : (
          <input {...shared} type="text" required={field.required} data-list={field.isList === true ? "" : undefined} />
        );
      }}
    </Labelled>
  );
}

function Select({ field, onPick }: Pick<FieldProps, "onPick"> & { readonly field: FieldOf<"select"> }) {
  const { pointer, options, value, isJson } = field;
  return (
    <Labelled field={field}>
      {(control) => (
        <select
          {...control}
          data-json={isJson === true ? "" : undefined}
          onChange={({ currentTarget }) => onPick?.(pointer, currentTarget.value)}
        >
          {options.map(([option, words]) => (
            <option key={option} value={option} selected={option === value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Any of several, each with a box to tick. */
function Choices({ field }: { readonly field: FieldOf<"choices"> }) {
  const { pointer, label, options, value = [], required = false } = field;
  const id = useId();
  const error = useContext(FieldErrors).get(pointer);
  return (
    <fieldset class="field choices" aria-describedby={error === undefined ? undefined : id}>
      <legend>{label}</legend>
      {options.map(([option, words]) => (
        <label key={option}>
          <input
            type="checkbox"
            name={pointer}
            value={option}
            defaultChecked={value.includes(option)}
            required={required}
            aria-invalid={error !== undefined}
          />
          <span>{words}</span>
        </label>
      ))}
      {error !== undefined && (
        <small id={id} class="field-error">
          {error}
        </small>
      )}
    </fieldset>
  );
}
