// Back from int8, channels along y: four elements, one word, per invocation.

struct Shape { channels: u32, length: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> q: array<u32>; // channels × ⌈length⌉₁₆, four in a word
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read> zeroPoints: array<i32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>; // channels × ⌈length⌉₁₆

override lanes: u32 = 32;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let words = (shape.length + 15u) / 16u * 4u;
  if (at.x >= words) {
    return;
  }
  let i = at.y * words + at.x;
  y[i] = vec4<f32>(unpack4xI8(q[i]) - zeroPoints[at.y]) * scales[at.y];
}
