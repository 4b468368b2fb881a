import type { FieldError } from "../../../protocol/wire/problem.ts";

/** Errors of a problem, sorted by field; the rest belongs to no field. */
export interface PlacedErrors {
  /** Messages by the field's JSON pointer. */
  readonly byField: ReadonlyMap<string, string>;
  readonly others: readonly FieldError[];
}

/** Puts each error at the field that its pointer names, or else at the nearest one around it. */
export function placeErrors(errors: readonly FieldError[], fields: readonly string[]): PlacedErrors {
  const byField = new Map<string, string>();
  const others: FieldError[] = [];
  for (const error of errors) {
    const around = fields.filter((field) => error.pointer === field || error.pointer.startsWith(`${field}/`));
    const nearest = around.toSorted((a, b) => b.length - a.length)[0];
    if (nearest === undefined) others.push(error);
    else byField.set(nearest, [byField.get(nearest), error.message].filter(Boolean).join("; "));
  }
  return { byField, others };
}

type Body = Record<string, unknown>;

/**
 * The JSON body of a form. Each control's name is the JSON pointer of its field, such as `#/targets/latencyMs`. Empty
 * values are left out, except required texts and lists. `data-factor` scales numbers to whole ones, `data-list` splits
 * text at commas, and `data-json` marks a JSON value. Boxes become a list of the ticked ones, and a field of files has the files themselves.
 */
export function readForm(form: HTMLFormElement): Body {
  const body: Body = {};
  for (const control of form.elements) {
    if (!isControl(control) || !control.name.startsWith("#/")) continue;
    const value = readControl(control);
    if (value === undefined) continue;
    const path = control.name.slice(2).split("/");
    const parent = path
      .slice(0, -1)
      .reduce((at: Body, part, index) => (at[part] ??= isIndex(path[index + 1]) ? [] : {}) as Body, body);
    const last = path.at(-1) ?? "";
    const before = parent[last];
    parent[last] = Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value;
  }
  return body;
}

function isIndex(part: string | undefined): boolean {
  return part !== undefined && /^\d+$/.test(part);
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function isControl(element: Element): element is Control {
  return element.matches("input, select, textarea");
}

function readControl(control: Control): unknown {
  const { type, value, dataset } = control;
  const text = value.trim();
  if (control instanceof HTMLInputElement && type === "checkbox") {
    if (control.checked) return [value];
    return control.required ? [] : undefined;
  }
  if (control instanceof HTMLInputElement && control.files !== null) {
    const files = [...control.files];
    return control.multiple && files.length > 0 ? files : files[0];
  }
  if (dataset["list"] !== undefined) {
    return text === "" ? undefined : text.split(",").map((part) => part.trim());
  }
  if (text === "") return control.required && type !== "number" ? "" : undefined;
  if (dataset["json"] !== undefined) return JSON.parse(text);
  if (type !== "number") return text;
  // 1.1 GiB are no whole number of bytes.
  return dataset["factor"] === undefined ? Number(text) : Math.round(Number(text) * Number(dataset["factor"]));
}
