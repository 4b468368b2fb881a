// C = activation(A·B + bias) by ../tiled-product/one-batch-of-matrices.wgsl, ../tiled-product/dense-in-registers.wgsl,
// ../tiled-product/in-registers.wgsl and ../tiled-product/blocks.wgsl, with
// ../mlp/activate.wgsl.

struct Shape { m: u32, n: u32, k: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>; // ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read> bias: array<vec4<f32>>; // ⌈n⌉₄
@group(0) @binding(4) var<storage, read_write> c: array<vec4<f32>>; // m × ⌈n⌉₄

alias Value = vec4<f32>;

fn store(at: u32, column: u32, value: Value) { c[at] = activate(value + bias[column]); }
