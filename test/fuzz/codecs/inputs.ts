import * as fc from "fast-check";
import { z } from "zod";
import { changedBytes } from "../changed-bytes.ts";
import { type KnownSource, SchemaArbitraries } from "../schema-arbitraries.ts";
import type { JsonSchema } from "../json-schema.ts";
import { hostileValue, spoiled } from "../spoil-value.ts";

const NOTHING_KNOWN: KnownSource = { pick: () => undefined, pickName: () => "name" };
const encoder = new TextEncoder();

/** Values that a schema accepts, as far as JSON Schema can express it. */
export function valuesOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  // With names of its own, which are none, every schema stands where it is used.
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", metadata: z.registry() });
  return new SchemaArbitraries({}, NOTHING_KNOWN).of(json as JsonSchema);
}

/** JSON texts of values, of nearly such values, of anything, and damaged ones. */
export function jsonTexts(values: fc.Arbitrary<unknown>): fc.Arbitrary<Uint8Array> {
  const texts = (each: fc.Arbitrary<unknown>) => each.map((value) => encoder.encode(JSON.stringify(value) ?? ""));
  return fc.oneof(
    { arbitrary: texts(values), weight: 4 },
    { arbitrary: texts(spoiled(values)), weight: 5 },
    { arbitrary: changedBytes(texts(values)), weight: 3 },
    { arbitrary: texts(hostileValue), weight: 1 },
  );
}

/** Files, intact and damaged, and some other bytes. */
export function damaged(files: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { arbitrary: changedBytes(files), weight: 12 },
    { arbitrary: files, weight: 1 },
    { arbitrary: fc.uint8Array({ maxLength: 200 }), weight: 1 },
  );
}

/** Texts, intact and damaged; they stay UTF-8. */
export function damagedTexts(...texts: readonly string[]): fc.Arbitrary<Uint8Array> {
  const some = fc.constantFrom(...texts.map((text) => encoder.encode(text)));
  return fc.oneof(
    damaged(some),
    fc.string({ unit: "binary", maxLength: 64 }).map((text) => encoder.encode(text)),
  );
}

export function toText(input: Uint8Array): string {
  return new TextDecoder().decode(input);
}
