// Back from int8, channels along y: sixteen elements, four words, per invocation.

struct Shape { channels: u32, length: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> q: array<vec4<u32>>; // channels × ⌈length⌉₁₆, four in a word
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read> zeroPoints: array<i32>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>; // channels × ⌈length⌉₁₆

override lanes: u32 = 32;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let blocks = (shape.length + 15u) / 16u;
  if (at.x >= blocks) {
    return;
  }
  let i = at.y * blocks + at.x;
  let words = q[i];
  let scale = scales[at.y];
  let zeroPoint = zeroPoints[at.y];
  y[4u * i] = vec4<f32>(unpack4xI8(words.x) - zeroPoint) * scale;
  y[4u * i + 1u] = vec4<f32>(unpack4xI8(words.y) - zeroPoint) * scale;
  y[4u * i + 2u] = vec4<f32>(unpack4xI8(words.z) - zeroPoint) * scale;
  y[4u * i + 3u] = vec4<f32>(unpack4xI8(words.w) - zeroPoint) * scale;
}
