// C = A·B by ../tiled-product/one-batch-of-matrices.wgsl, ../tiled-product/dense-in-slices.wgsl,
// ../tiled-product/in-slices.wgsl, ../tiled-product/floats-in-slices.wgsl and ../tiled-product/blocks.wgsl.

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>; // ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>; // m × ⌈n⌉₄

fn store(at: u32, column: u32, value: vec4<f32>) { c[at] = value; }
