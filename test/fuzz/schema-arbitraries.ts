import * as fc from "fast-check";
import type { JsonSchema } from "./json-schema.ts";

/** Source of existing ids and names. */
export interface KnownSource {
  /** A value of a kind, such as `job` or `sha256`; undefined where none is known. */
  pick(kind: string, at: number): string | undefined;
  /** A name for a field, or for a part of a path. */
  pickName(at: number, field: string, path: string): string;
}

/** Depth to which a schema that holds itself is followed. */
const MAX_DEPTH = 4;
/** A list or text that may be as long as it likes is seldom longer. */
const USUAL_ITEMS = 3;
const USUAL_LENGTH = 24;
const ID = /^\^([a-z]{3})_\[0-9a-z\]\{26\}\$$/;
const DIGEST = "^sha256:[0-9a-f]{64}$";

/** Makes arbitraries of values that a schema of the document takes. */
export class SchemaArbitraries {
  readonly #components: Readonly<Record<string, JsonSchema>>;
  readonly #known: KnownSource;
  readonly #made = new Map<string, fc.Arbitrary<unknown>>();
  #depth = 0;

  constructor(components: Readonly<Record<string, JsonSchema>>, known: KnownSource) {
    this.#components = components;
    this.#known = known;
  }

  /** Values of a schema; with the `name` of their field, or of a part of the path as `path name`. */
  of(schema: JsonSchema, name = ""): fc.Arbitrary<unknown> {
    if (schema.$ref !== undefined) return this.#ofReference(schema.$ref, name);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return fc.oneof(...choices.map((choice) => this.of(choice, name)));
    if (schema.allOf !== undefined) return fc.tuple(...schema.allOf.map((part) => this.of(part, name))).map(join);
    if (Array.isArray(schema.type)) {
      return fc.oneof(...schema.type.map((type: string) => this.#ofType(type, schema, name)));
    }
    return this.#ofType((schema.type as string | undefined) ?? "any", schema, name);
  }

  #ofReference(reference: string, name: string): fc.Arbitrary<unknown> {
    const key = `${reference} ${name}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const component = this.#components[reference.slice("#/components/schemas/".length)];
    if (component === undefined) throw new Error(`the document has no ${reference}`);
    if (this.#depth >= MAX_DEPTH * 4) return fc.constant(1);
    this.#depth++;
    const arbitrary = this.of(component, name);
    this.#depth--;
    this.#made.set(key, arbitrary);
    return arbitrary;
  }

  #ofType(type: string, schema: JsonSchema, name: string): fc.Arbitrary<unknown> {
    switch (type) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer":
        return ofNumbers(schema, true);
      case "number":
        return ofNumbers(schema, false);
      case "string":
        return this.#ofTexts(schema, name);
      case "array":
        return this.#ofLists(schema, name);
      case "object":
        return this.#ofObjects(schema);
      default:
        return fc.jsonValue({ maxDepth: MAX_DEPTH });
    }
  }

  #ofTexts(schema: JsonSchema, name: string): fc.Arbitrary<string> {
    const { pattern, format, minLength = 0, maxLength = USUAL_LENGTH } = schema;
    const known = this.#known;
    const [field = "", path = ""] = name.split(" ").toReversed();
    const names = fc.nat().map((at) => known.pickName(at, field, path));
    if (format === "date-time") return ofInstants();
    if (format === "uri")
      return fc.webUrl({ validSchemes: ["https"], authoritySettings: { size: "xsmall" } }).map(home);
    if (pattern !== undefined) {
      const fresh = fc.stringMatching(new RegExp(pattern), { size: "small" });
      const kind = pattern === DIGEST ? "sha256" : ID.exec(pattern)?.[1];
      if (kind === undefined) return fc.oneof(fresh, { arbitrary: names, weight: 3 });
      const stored = fc.tuple(fc.nat(), fresh).map(([at, other]) => known.pick(kind, at) ?? other);
      return fc.oneof({ arbitrary: stored, weight: 6 }, { arbitrary: fresh, weight: 1 });
    }
    const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, USUAL_LENGTH)) };
    const tokens = fc.nat().map((at) => known.pick("mt", at) ?? "mt_unknown");
    return fc.oneof(
      { arbitrary: names, weight: 8 },
      { arbitrary: fc.string(bounds), weight: 2 },
      { arbitrary: fc.string({ ...bounds, unit: "binary" }), weight: 1 },
      { arbitrary: tokens, weight: 1 },
    );
  }

  #ofLists({ items = {}, minItems = 0, maxItems = USUAL_ITEMS }: JsonSchema, name: string): fc.Arbitrary<unknown[]> {
    const maxLength = Math.max(minItems, Math.min(maxItems, minItems + USUAL_ITEMS));
    return fc.array(this.of(items, name), { minLength: minItems, maxLength });
  }

  #ofObjects({ properties = {}, required = [], additionalProperties }: JsonSchema): fc.Arbitrary<unknown> {
    const fields = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, this.of(field, name)]));
    const requiredKeys = required.filter((name) => name in fields);
    const record = fc.record(fields, { requiredKeys });
    if (typeof additionalProperties !== "object") return record;
    const further = fc.dictionary(fc.stringMatching(/^[A-Za-z]{1,6}$/), this.of(additionalProperties), { maxKeys: 3 });
    return fc.tuple(further, record).map(join);
  }
}

function join(parts: readonly unknown[]): unknown {
  return Object.assign({}, ...parts) as unknown;
}

/** Numbers within bounds: those at the bounds, small ones, and any. */
function ofNumbers(schema: JsonSchema, isWhole: boolean): fc.Arbitrary<number> {
  const most = Number.MAX_SAFE_INTEGER;
  const step = isWhole ? 1 : Number.MIN_VALUE;
  const min = Math.max(-most, schema.minimum ?? (schema.exclusiveMinimum ?? -most - step) + step);
  const max = Math.max(min, Math.min(most, schema.maximum ?? (schema.exclusiveMaximum ?? most + step) - step));
  const from = Math.max(min, Math.min(max, 0));
  if (isWhole) {
    const small = fc.integer({ min: Math.ceil(from), max: Math.floor(Math.min(max, from + 16)) });
    const any = fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
    return fc.oneof({ arbitrary: small, weight: 3 }, { arbitrary: any, weight: 1 });
  }
  return fc.oneof(
    fc.double({ min, max, noNaN: true }),
    fc.double({ min: from, max: Math.min(max, from + 4), noNaN: true }),
  );
}

function ofInstants(): fc.Arbitrary<string> {
  const dates = fc.date({ min: new Date("2026-11-01"), max: new Date("2026-12-01"), noInvalidDate: true });
  return fc.oneof(dates, fc.date({ noInvalidDate: true })).map((date) => date.toISOString());
}

/** An address of this machine without a listener: nothing is sent to the outside. */
function home(address: string): string {
  return address.replace(/^https:\/\/[^/]+/, "http://127.0.0.1:9");
}
