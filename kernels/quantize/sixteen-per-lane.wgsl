// Quantization to int8, channels along y: sixteen elements, four words, per invocation.

struct Shape { channels: u32, length: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // channels × ⌈length⌉₁₆
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read> zeroPoints: array<i32>;
@group(0) @binding(4) var<storage, read_write> q: array<vec4<u32>>; // channels × ⌈length⌉₁₆, four in a word

override lanes: u32 = 32;

fn quantize(value: vec4<f32>, scale: f32, zeroPoint: f32) -> u32 {
  // In f32, so that what is far beyond int8 saturates as well; WGSL rounds ties to even.
  return pack4xI8(vec4<i32>(clamp(round(value / scale) + zeroPoint, vec4<f32>(-128.0), vec4<f32>(127.0))));
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let blocks = (shape.length + 15u) / 16u;
  if (at.x >= blocks) {
    return;
  }
  let i = at.y * blocks + at.x;
  let scale = scales[at.y];
  let zeroPoint = f32(zeroPoints[at.y]);
  q[i] = vec4<u32>(
    quantize(x[4u * i], scale, zeroPoint),
    quantize(x[4u * i + 1u], scale, zeroPoint),
    quantize(x[4u * i + 2u], scale, zeroPoint),
    quantize(x[4u * i + 3u], scale, zeroPoint),
  );
}
