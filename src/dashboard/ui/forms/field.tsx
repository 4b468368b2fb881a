import { type ComponentChildren, createContext } from "preact";
import { useContext, useId } from "preact/hooks";

/** What is wrong with the fields of the form around, by the pointers that name them. */
export const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

interface FieldProps {
  /** JSON pointer of the field, such as `#/targets/latencyMs`. */
  readonly name: string;
  readonly label: string;
  /** Unit or bounds, beneath it. */
  readonly hint?: string | undefined;
}

/** Attributes that tie a control to its hint and to what is wrong with it. */
interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

interface LabelledProps extends FieldProps {
  readonly children: (control: ControlProps) => ComponentChildren;
}

/** A control under its label, with its hint, and what the edge says is wrong with it. */
function Labelled({ name, label, hint, children }: LabelledProps) {
  const id = useId();
  const error = useContext(FieldErrors).get(name);
  const described = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
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

interface InputProps extends FieldProps {
  readonly type?: "text" | "number";
  readonly required?: boolean;
  readonly value?: string | number | undefined;
  /** What a number is multiplied by before it is sent: that of its unit. */
  readonly factor?: number;
  /** Whether it is several, with commas between. */
  readonly isList?: boolean;
}

/** A line of text, or a number. */
export function InputField({ value, factor, isList, type = "text", required, ...field }: InputProps) {
  return (
    <Labelled {...field}>
      {(control) => {
        const shared = {
          ...control,
          defaultValue: value === undefined ? "" : String(value),
          required,
          autoComplete: "off",
          spellcheck: false,
        };
        return type === "number" ? (
          <input {...shared} type="number" step="any" data-factor={factor} />
        ) : (
          <input {...shared} type="text" data-list={isList === true ? "" : undefined} />
        );
      }}
    </Labelled>
  );
}

interface SelectProps extends FieldProps {
  /** Values with their words. */
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly value?: string | undefined;
  /** Whether the values are JSON, such as numbers. */
  readonly isJson?: boolean;
  readonly onPick?: (value: string) => void;
}

/** One of several. */
export function SelectField({ options, value, isJson, onPick, ...field }: SelectProps) {
  return (
    <Labelled {...field}>
      {(control) => (
        <select
          {...control}
          data-json={isJson === true ? "" : undefined}
          onChange={({ currentTarget }) => onPick?.(currentTarget.value)}
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

interface ChoicesProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly value?: readonly string[] | undefined;
  /** Whether none of them is sent as an empty list, and not left out. */
  readonly required?: boolean;
}

/** Any of several, each with a box to tick. */
export function ChoicesField({ name, label, options, value = [], required = false }: ChoicesProps) {
  const id = useId();
  const error = useContext(FieldErrors).get(name);
  return (
    <fieldset class="field choices" aria-describedby={error === undefined ? undefined : id}>
      <legend>{label}</legend>
      {options.map(([option, words]) => (
        <label key={option}>
          <input
            type="checkbox"
            name={name}
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
