// B = Aᵀ with a block of 4 × 4 in the registers of each invocation.

struct Shape { m: u32, n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>; // ⌈m⌉₄ × ⌈n⌉₄
@group(0) @binding(2) var<storage, read_write> b: array<vec4<f32>>; // ⌈n⌉₄ × ⌈m⌉₄

override lanesN: u32 = 4;
override lanesM: u32 = 8;

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let columns = (shape.n + 3u) / 4u;
  let rows = (shape.m + 3u) / 4u;
  if (at.x >= columns || at.y >= rows) {
    return;
  }
  let source = 4u * at.y * columns + at.x;
  let block = transpose(
    mat4x4<f32>(a[source], a[source + columns], a[source + 2u * columns], a[source + 3u * columns]),
  );
  let sink = 4u * at.x * rows + at.y;
  b[sink] = block[0];
  b[sink + rows] = block[1];
  b[sink + 2u * rows] = block[2];
  b[sink + 3u * rows] = block[3];
}
