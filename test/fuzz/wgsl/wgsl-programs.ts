import * as fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KERNELS } from "../../../kernels/registry.ts";
import { readSources } from "../../../src/gpu-runner/kernels/dispatch/kernel-sources.ts";
import { damaged, toText } from "../codecs/inputs.ts";

const FOLDER = join(import.meta.dirname, "../../../kernels");

/** Words by which a program becomes another one that is still nearly one. */
const WORDS = [
  [
    "array<u32>",
    "array<f32, 0>",
    "array<array<u32, 65535>, 65535>",
    "atomic<i32>",
    "mat4x4<f32>",
    "ptr<function, f32>",
  ],
  ["var<workgroup>", "var<private>", "var<storage, read_write>", "override", "const", "struct S { s: S }", "alias"],
  ["@workgroup_size(0)", "@workgroup_size(4294967295)", "@binding(4294967296)", "@align(3)", "@id(0)"],
  ["enable f16;", "enable subgroups;", "requires x;", "const_assert false;", "@diagnostic(off, x)"],
  ["loop {}", "while true {}", "switch 0 {", "discard;", "workgroupBarrier()", "atomicAdd(&a, 1)", "arrayLength(&a)"],
  ["1 / 0", "1 % 0", "i32(-2147483648) / -1", "1u << 32", "0x1p127f * 2", "1e999f", "-2147483648i", "99999999999"],
  ["4294967295u", "dot(vec3f(), vec3f())", "bitcast<f32>(0x7fc00000)", "_", "&", "*", "->", "/*", "*/", "//"],
  ["(", ")", "{", "}", "[", "]", "<", ">", ";", ",", ":", "\u0000", "\u2028", "é"],
].flat();

const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".wgsl"))
  .toSorted()
  .map((file) => readFileSync(join(FOLDER, file), "utf8"))
  // The others are parts of programs, such as environments.
  .filter((text) => text.includes("@compute"));
const programs = await Promise.all([...KERNELS.values()].map(readSources));
const sources = [...new Set([...files, ...programs.flatMap((each) => [...each.values()])])];

const source = fc.constantFrom(...sources);
const change = fc.record({
  kind: fc.constantFrom("replace", "insert", "delete", "repeat", "copy"),
  at: fc.nat(),
  from: fc.nat(),
  word: fc.constantFrom(...WORDS),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** Programs of our kernels after one to four changes of words; a third is changed by bytes instead, or not at all. */
export const wgslPrograms: fc.Arbitrary<string> = fc.oneof(
  {
    arbitrary: fc
      .tuple(source, fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([text, changes]) => changes.reduce(changeWords, text.split(/\b/)).join("")),
    weight: 9,
  },
  { arbitrary: damaged(source.map((text) => new TextEncoder().encode(text))).map(toText), weight: 4 },
);

function changeWords(words: readonly string[], { kind, at: place, from, word }: Change): string[] {
  const at = place % Math.max(1, words.length);
  const other = words[from % Math.max(1, words.length)] ?? "";
  switch (kind) {
    case "replace":
      return words.toSpliced(at, 1, ` ${word} `);
    case "insert":
      return words.toSpliced(at, 0, ` ${word} `);
    case "delete":
      return words.toSpliced(at, 1);
    case "repeat":
      return words.toSpliced(at, 0, ...words.slice(at, at + 12));
    case "copy":
      return words.toSpliced(at, 1, other);
  }
}
