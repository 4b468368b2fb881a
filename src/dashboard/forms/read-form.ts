type Body = Record<string, unknown>;

/**
 * The JSON body that a form stands for: each control is named by the JSON pointer of its field, such as
 * `#/targets/latencyMs`. What is empty is left out, but for text and lists that are required. Numbers are multiplied by
 * `data-factor`, to a whole number; `data-list` parts text at commas; `data-json` is a value as JSON; boxes make a list of those ticked.
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
  if (dataset["list"] !== undefined) {
    return text === "" ? undefined : text.split(",").map((part) => part.trim());
  }
  if (text === "") return control.required && type !== "number" ? "" : undefined;
  if (dataset["json"] !== undefined) return JSON.parse(text);
  if (type !== "number") return text;
  // 1.1 GiB are no whole number of bytes.
  return dataset["factor"] === undefined ? Number(text) : Math.round(Number(text) * Number(dataset["factor"]));
}
