import { z } from "zod";

/** A JSON Schema of draft 2020-12, the one of OpenAPI 3.1. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

type Schemas = Readonly<Record<string, JsonSchema>>;

/**
 * Converts schemas by name, all at once. A schema with an id becomes a component that the others refer to.
 * Replies are described like requests: a field with a default may be absent, since the edge does not fill it in.
 */
export function convertSchemas(schemas: Readonly<Record<string, z.ZodType>>): {
  readonly parts: Schemas;
  readonly components: Schemas;
} {
  const whole = z.toJSONSchema(z.object(schemas), {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodDiscriminatedUnion) addMapping(zodSchema, jsonSchema);
    },
  });
  const text = JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { properties, $defs } = JSON.parse(text, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? foldNull(shorten(value as JsonSchema))
      : value,
  ) as { readonly properties: Schemas; readonly $defs: Schemas };
  return { parts: properties, components: $defs };
}

/** Names the component of each value of a union's discriminator, where all options are components. */
function addMapping(
  { def: { discriminator: propertyName, options } }: z.ZodDiscriminatedUnion,
  union: JsonSchema,
): void {
  const references = (union.oneOf ?? []).map((option) => option.$ref);
  if (references.includes(undefined)) return;
  const mapping = options.flatMap((option, place) => {
    const { values } = (option as z.ZodObject).shape[propertyName] as z.ZodLiteral<string>;
    return [...values].map((value) => [value, references[place]]);
  });
  union.discriminator = { propertyName, mapping: Object.fromEntries(mapping) };
}

/** Removes keywords without information: bounds that all integers have, the pattern of a format, keys of any text. */
function shorten(schema: JsonSchema): JsonSchema {
  if (schema.minimum === -Number.MAX_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format === "date-time") delete schema.pattern;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
  return schema;
}

/** Makes null another type of a nullable schema, so that its bounds and description stay beside it. */
function foldNull(schema: JsonSchema): JsonSchema {
  const { anyOf = [], ...beside } = schema;
  const [option, end] = anyOf;
  if (anyOf.length !== 2 || end?.type !== "null" || option?.type === undefined) return schema;
  const nullable = { ...option, type: [option.type, "null"].flat() as never, ...beside };
  return option.enum === undefined ? nullable : { ...nullable, enum: [...option.enum, null] };
}
