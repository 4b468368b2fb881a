/** A JSON schema, as far as `/openapi.json` uses it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Two spaces a level: deeper levels are only called an object, such as a size expression in size expressions. */
const DEEPEST = "      ";

/** A schema in TypeScript's syntax, with the facts that TypeScript cannot express after each field. */
export function renderType(schema: Schema, indent = ""): string {
  const { $ref, oneOf, anyOf, allOf, enum: values } = schema;
  if ($ref !== undefined) return nameOf($ref);
  const alternatives = oneOf ?? anyOf;
  if (alternatives !== undefined)
    return join(
      alternatives.map((each) => renderType(each, indent)),
      " | ",
    );
  if (allOf !== undefined)
    return join(
      allOf.filter(isTyped).map((each) => renderType(each, indent)),
      " & ",
    );
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values !== undefined)
    return join(
      values.map((each) => JSON.stringify(each)),
      " | ",
    );
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (types.length === 0) return "unknown";
  return join(
    types.map((type) => renderOne(type, schema, indent)),
    " | ",
  );
}

/** Name of a reference's component. */
export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}

/** Note after a field: its purpose, its bounds, and its default. */
export function renderNote(schema: Schema): string {
  const all = [schema, ...(schema.allOf ?? [])];
  const { description } = all.find((each) => each.description !== undefined) ?? {};
  const { default: fallback } = all.find((each) => each.default !== undefined) ?? {};
  const parts = [
    description?.replaceAll(/\s+/g, " "),
    renderBounds(schema),
    fallback === undefined ? undefined : `default ${JSON.stringify(fallback)}`,
  ];
  return parts.filter((part) => part !== undefined && part !== "").join("; ");
}

function renderOne(type: string, schema: Schema, indent: string): string {
  if (type === "object") return renderObject(schema, indent);
  if (type !== "array") return type;
  if (schema.prefixItems !== undefined) {
    return `[${schema.prefixItems.map((each) => renderType(each, indent)).join(", ")}]`;
  }
  const item = renderType(schema.items ?? {}, indent);
  return item.includes(" | ") || item.includes(" & ") ? `(${item})[]` : `${item}[]`;
}

function renderObject({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const note = renderNote(field);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const type = renderType(field, inner);
    return `${inner}${key}${required.includes(name) ? "" : "?"}: ${type};${note === "" ? "" : ` // ${note}`}`;
  });
  if (fields.length > 0 && indent.length >= DEEPEST.length) return "object";
  if (fields.length > 0) return `{\n${fields.join("\n")}\n${indent}}`;
  if (typeof additionalProperties !== "object") return "object";
  return `Record<string, ${renderType(additionalProperties, indent)}>`;
}

function renderBounds(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems } = schema;
  const most = Number.MAX_SAFE_INTEGER;
  return [
    exclusiveMinimum === undefined
      ? span(minimum, maximum === most ? undefined : maximum, "")
      : `> ${exclusiveMinimum}`,
    exclusiveMinimum !== undefined && maximum !== undefined ? `≤ ${maximum}` : "",
    exclusiveMaximum === undefined ? "" : `< ${exclusiveMaximum}`,
    span(minLength, maxLength, " characters"),
    span(minItems, maxItems, " items"),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function span(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === -Number.MAX_SAFE_INTEGER || (least === undefined && most === undefined)) return "";
  if (most === undefined) return `≥ ${least}${unit}`;
  return least === undefined || least === 0 ? `≤ ${most}${unit}` : `${least} to ${most}${unit}`;
}

/** A schema with a description only has no type. */
function isTyped(schema: Schema): boolean {
  return Object.keys(schema).some((key) => key !== "description" && key !== "default");
}

/** Joins distinct types. */
function join(types: readonly string[], sign: string): string {
  return [...new Set(types)].join(sign);
}
