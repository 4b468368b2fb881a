import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { KERNELS } from "../../../kernels/registry.ts";
import { readWorkgroup } from "../../../src/gpu-runner/gpu/read-workgroup.ts";

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
    expect(readWorkgroup(code, "main", {})).toEqual({ lanes: 64, memoryBytes: 4 * 16 * 17 + 16 * 7 });
    expect(readWorkgroup(code, "main", { tile: 8 })).toEqual({ lanes: 32, memoryBytes: 4 * 8 * 9 + 16 * 3 });
    expect(readWorkgroup(code, "other", {})).toMatchObject({ lanes: 1 });
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
    // Comments inside of comments are the one thing that is not looked through.
    expect(read("8", "Own; /* /* */ struct Own { own: Own } */ struct Own { a: f32 }")).toBeNull();
    expect(read("8", "Own; /* struct Own { own: Own } */ struct Own { a: f32 }")).toMatchObject({ memoryBytes: 4 });
  });

  it("is known of every pass of every kernel", () => {
    for (const { name, folder, dimensions, variants } of KERNELS.values()) {
      const shape = Object.fromEntries(dimensions.map((dimension) => [dimension.name, dimension.default]));
      for (const variant of variants) {
        const values = Object.fromEntries(variant.axes.map((axis) => [axis.name, axis.default]));
        const code = readFileSync(new URL(variant.file, folder), "utf8");
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
