import * as fc from "fast-check";

const DEEP = 400;
const LONG = 20_000;

/** Values that ought to be refused nearly everywhere, and are easy to mishandle. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  -1e-320,
  1e308,
  2 ** 53,
  -(2 ** 63),
  "",
  " ",
  "\u0000",
  "\ud800",
  "\u202e\ufeff",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "*",
  "%",
  "'; DROP TABLE runs; --",
  "../../../etc/passwd",
  "NaN",
  "-0",
  "1e999",
  "9".repeat(400),
  "x".repeat(LONG),
  "\u{1d54f}".repeat(65),
  "2026-02-30T00:00:00.000Z",
  "+275760-09-13T00:00:00.000Z",
  [],
  {},
  [null],
  [[]],
  Array.from({ length: 1_000 }, () => 1),
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse('{"constructor":{"prototype":{"polluted":true}},"length":-1,"toJSON":1}'),
  JSON.parse("[".repeat(DEEP) + "]".repeat(DEEP)),
  JSON.parse('{"a":'.repeat(DEEP) + "1" + "}".repeat(DEEP)),
];

export const hostileValue = fc.oneof(
  { arbitrary: fc.constantFrom(...HOSTILE), weight: 4 },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
);

/** One change of a value: at one of its places, which is found step by step, something else, nothing, or something more. */
const change = fc.record({
  way: fc.array(fc.nat(63), { maxLength: 5 }),
  kind: fc.constantFrom("replace", "replace", "remove", "add"),
  value: hostileValue,
  name: fc.constantFrom("__proto__", "constructor", "surprise", "", "toString", "\u0000", "x".repeat(300)),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** Values of an arbitrary after one to three changes. */
export function spoiled(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(values, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([value, changes]) => changes.reduce<unknown>((found, each) => spoilAt(found, each.way, each), value));
}

function spoilAt(value: unknown, [step, ...further]: readonly number[], how: Omit<Change, "way">): unknown {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (step === undefined || entries.length === 0) return spoil(value, how);
  const place = step % entries.length;
  const [name, inner] = entries[place]!;
  const changed = spoilAt(inner, further, how);
  const kept = changed === undefined ? entries.toSpliced(place, 1) : entries.with(place, [name, changed]);
  return Array.isArray(value) ? kept.map(([, each]) => each as unknown) : Object.fromEntries(kept);
}

/** Undefined where it is taken away. */
function spoil(value: unknown, { kind, value: hostile, name }: Omit<Change, "way">): unknown {
  if (kind === "remove") return undefined;
  if (kind === "add" && Array.isArray(value)) return [...(value as unknown[]), hostile];
  if (kind === "add" && typeof value === "object" && value !== null) {
    return Object.fromEntries([...Object.entries(value), [name, hostile]]);
  }
  return hostile;
}
