/** Kernels as callers submit them. */

const vector = (name: string, access: string, changes: object = {}) => ({
  name,
  access,
  dtype: "float32",
  extents: ["n"],
  ...changes,
});
const wgsl = `
@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read_write> a: array<f32>;
override scale: f32 = 3.0;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x < n) { a[at.x] = b[at.x] + scale * c[at.x]; }
}`;
const passes = [{ entryPoint: "main", workgroups: [{ ceilDiv: ["n", 64] }] }];

/** Competes with `triad`. */
export const competitor = {
  name: "my-triad",
  wgsl,
  passes,
  dimensions: [{ name: "n", min: 1, max: 65_536, default: 1_024 }],
  bindings: [vector("b", "read"), vector("c", "read"), vector("a", "write")],
  reference: { kind: "kernel", kernel: "triad" },
};

const fill = { kind: "uniform", min: -1, max: 1 };

/** Defines the correct result by its own WGSL. */
export const ownReference = {
  ...competitor,
  name: "my-own",
  bindings: [vector("b", "read", { fill }), vector("c", "read", { fill }), vector("a", "write")],
  tolerance: { relative: 1e-6, absolute: 1e-6 },
  reference: { kind: "wgsl", wgsl, passes },
};

/** Defines the correct result by numbers. */
export const expecting = {
  ...competitor,
  name: "my-numbers",
  dimensions: [{ name: "n", min: 2, max: 2, default: 2 }],
  tolerance: { relative: 0, absolute: 0 },
  reference: { kind: "expected", inputs: { b: [1, 2], c: [10, 20] }, outputs: { a: [31, 62] } },
};
