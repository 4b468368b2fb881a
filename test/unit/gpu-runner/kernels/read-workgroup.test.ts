import { describe, expect, it } from "vitest";
import { KERNELS } from "../../../../kernels/registry.ts";
import { readSources } from "../../../../src/gpu-runner/kernels/dispatch/kernel-sources.ts";
import { readWorkgroup } from "../../../../src/gpu-runner/kernels/benchmark/read-workgroup.ts";

describe("the size of a workgroup", () => {
  it("is read from names, numbers and sums, values given before defaults", () => {
    const code = `
      override tile: u32 = 16; // override tile: u32 = 99;
      const HALF = 4u;
      var<workgroup> a: array<f32, tile * (tile + 1u)>;
      var<workgroup> b: array<vec4<f32>, tile / 2u - 1u>;
      @compute @workgroup_size(tile, HALF)
      fn main() {}
      @compute @workgroup_size(1) fn other() {}`;
    const memoryBytes = 4 * 16 * 17 + 16 * 7;
    expect(readWorkgroup(code, "main", {})).toEqual({ size: [16, 4, 1], lanes: 64, memoryBytes });
    const smaller = { size: [8, 4, 1], lanes: 32, memoryBytes: 4 * 8 * 9 + 16 * 3 };
    expect(readWorkgroup(code, "main", { tile: 8 })).toEqual(smaller);
    expect(readWorkgroup(code, "other", {})).toMatchObject({ size: [1, 1, 1], lanes: 1 });
  });

  it("is read from the entry point's attributes in any order", () => {
    const code =
      "@workgroup_size(lanes, 2u) @compute\nfn first() {}\n@compute @workgroup_size(lanes * 2) fn second() {}";
    expect(readWorkgroup(code, "first", { lanes: 16 })?.size).toEqual([16, 2, 1]);
    expect(readWorkgroup(code, "second", { lanes: 16 })?.size).toEqual([32, 1, 1]);
    expect(readWorkgroup(code, "third", {})).toBeNull();
  });

  it("counts structures, atomics, vectors and halves as WGSL lays them out", () => {
    const bytesOf = (type: string) =>
      readWorkgroup(
        `struct Pair { value: f32, at: u32 } struct Mixed { a: f32, b: vec3<f32>, c: f16 }
         var<workgroup> one: ${type}; @compute @workgroup_size(1) fn main() {}`,
        "main",
        {},
      )?.memoryBytes;
    expect(bytesOf("array<Pair, 3>")).toBe(24);
    expect(bytesOf("array<atomic<u32>, 5>")).toBe(20);
    expect(bytesOf("array<vec3<f32>, 2>")).toBe(32);
    expect(bytesOf("array<vec2<f16>, 2>")).toBe(8);
    expect(bytesOf("Mixed")).toBe(32);
    expect(bytesOf("array<array<f32, 3>, 2>")).toBe(24);
  });

  it("is not guessed", () => {
    const read = (size: string, type = "f32") =>
      readWorkgroup(`var<workgroup> one: ${type}; @compute @workgroup_size(${size}) fn main() {}`, "main", {});
    expect(read("unknown")).toBeNull();
    expect(read("max(1, 2)")).toBeNull();
    expect(read("8", "texture")).toBeNull();
    expect(read("8", "array<f32, 1 << 2>")).toBeNull();
    expect(readWorkgroup("fn main() {}", "main", {})).toBeNull();
    expect(readWorkgroup("@workgroup_size(8) fn main() {}", ".*", {})).toBeNull();
    expect(read("8", "Own; struct Own { own: Own }")).toBeNull();
  });

  it("is not read from comments, nor from comments in comments", () => {
    const read = (text: string) => readWorkgroup(`${text} @compute @workgroup_size(8) fn main() {}`, "main", {});
    const other = "struct Own { a: vec2<f32> }";
    for (const comment of [`/* ${other} */`, `/* /* */ ${other} */`, `/*//*/ ${other} */ */`, `// ${other} /*\n`]) {
      expect(read(`var<workgroup> one: Own; ${comment} struct Own { a: f32 }`), comment).toMatchObject({
        memoryBytes: 4,
      });
    }
  });

  it("is known of types with another name, and of none that names itself", () => {
    const read = (text: string) => readWorkgroup(`${text} @compute @workgroup_size(8) fn main() {}`, "main", {});
    const code = "alias Four = vec4<f32>; alias Tile = array<Four, 16>; var<workgroup> tile: Tile;";
    expect(read(code)?.memoryBytes).toBe(256);
    expect(read("alias One = Two; alias Two = One; var<workgroup> one: One;")).toBeNull();
  });

  it("is laid out once a structure, however many have it as a member", () => {
    const structs = Array.from({ length: 7 }, (_, depth) => {
      const members = Array.from(
        { length: 20 },
        (__, member) => `m${member}: ${depth === 6 ? "f32" : `S${depth + 1}`}`,
      );
      return `struct S${depth} { ${members.join(", ")} }`;
    });
    const code = `${structs.join(" ")} var<workgroup> one: S0; @compute @workgroup_size(8) fn main() {}`;
    expect(readWorkgroup(code, "main", {})?.memoryBytes).toBe(4 * 20 ** 7);
  });

  it("is known of every pass of every kernel", async () => {
    for (const kernel of KERNELS.values()) {
      const { name, dimensions, variants } = kernel;
      const sources = await readSources(kernel);
      const shape = Object.fromEntries(dimensions.map((dimension) => [dimension.name, dimension.default]));
      for (const variant of variants) {
        const values = Object.fromEntries(variant.axes.map((axis) => [axis.name, axis.default]));
        const code = sources.get(variant.file) ?? "";
        for (const { entryPoint } of variant.passes) {
          const workgroup = readWorkgroup(code, entryPoint, { ...values, ...variant.constants?.(shape) });
          expect(workgroup, `${name}/${variant.file}/${entryPoint}`).not.toBeNull();
          expect(workgroup?.lanes).toBeLessThanOrEqual(256);
          expect(workgroup?.memoryBytes).toBeLessThanOrEqual(16_384);
        }
      }
    }
  });
});
