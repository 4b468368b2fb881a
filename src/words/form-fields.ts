interface FieldBase {
  /** JSON pointer of the value in the request's body, such as `#/targets/latencyMs`. */
  readonly pointer: string;
  readonly label: string;
  /** Unit or bounds. */
  readonly hint?: string | undefined;
}

/** Values with their words. */
export type FieldOptions = readonly (readonly [value: string, words: string])[];

/** A line of text. */
interface TextField extends FieldBase {
  readonly kind: "text";
  readonly value?: string | undefined;
  readonly required?: boolean;
  /** A list of values, separated by commas. */
  readonly isList?: boolean;
}

interface NumberField extends FieldBase {
  readonly kind: "number";
  readonly value?: number | undefined;
  /** Factor from the field's unit to the unit of the API. */
  readonly factor?: number;
}

/** One of several. */
interface SelectField extends FieldBase {
  readonly kind: "select";
  readonly options: FieldOptions;
  readonly value?: string | undefined;
  /** The values are JSON, such as numbers. */
  readonly isJson?: boolean;
}

/** Any of several. */
interface ChoicesField extends FieldBase {
  readonly kind: "choices";
  readonly options: FieldOptions;
  readonly value?: readonly string[] | undefined;
  /** An empty selection is sent as an empty list instead of being left out. */
  readonly required?: boolean;
}

/** A file of the reader's disk. */
interface FilesField extends FieldBase {
  readonly kind: "files";
  /** Endings of names, or media types, as a browser takes them. */
  readonly accept?: string;
  /** Several files. */
  readonly isList?: boolean;
}

/** A field of a form that stands for a request. */
export type FormField =
  | TextField
  | NumberField
  | SelectField
  | ChoicesField
  | FilesField
  | { readonly heading: string };

/** Options that are their own words. */
export function plainOptions<Value extends string>(values: readonly Value[]): (readonly [Value, Value])[] {
  return values.map((value) => [value, value]);
}
