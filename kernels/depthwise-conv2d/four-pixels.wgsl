// Convolution of every channel by its own filter: four pixels of a row × four channels per invocation, so that
// each load of a weight feeds four pixels.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>; // kernel² × ⌈channels⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>; // batch × rows × columns × ⌈channels⌉₄

override lanesC: u32 = 8;
override lanesX: u32 = 2;

@compute @workgroup_size(lanesC, lanesX)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let depth = (shape.channels + 3u) / 4u;
  let rows = (shape.height + shape.stride - 1u) / shape.stride;
  let columns = (shape.width + shape.stride - 1u) / shape.stride;
  let left = 4u * at.y;
  if (at.x >= depth || left >= columns) {
    return;
  }
  let before = i32(shape.kernel / 2u);
  let top = i32(at.z % rows * shape.stride) - before;
  let picture = at.z / rows * shape.height;
  let starts = vec4<i32>((left + vec4<u32>(0u, 1u, 2u, 3u)) * shape.stride) - before;
  let right = i32(shape.width) - 1;
  var sum0 = vec4<f32>();
  var sum1 = vec4<f32>();
  var sum2 = vec4<f32>();
  var sum3 = vec4<f32>();
  for (var ky = 0u; ky < shape.kernel; ky++) {
    let y = top + i32(ky);
    if (y < 0 || y >= i32(shape.height)) {
      continue;
    }
    let row = (picture + u32(y)) * shape.width;
    for (var kx = 0u; kx < shape.kernel; kx++) {
      let xs = starts + i32(kx);
      let inside = (xs >= vec4<i32>()) & (xs <= vec4<i32>(right));
      let pixels = (row + vec4<u32>(clamp(xs, vec4<i32>(), vec4<i32>(right)))) * depth + at.x;
      let weight = weights[(ky * shape.kernel + kx) * depth + at.x];
      sum0 = fma(select(vec4<f32>(), input[pixels.x], inside.x), weight, sum0);
      sum1 = fma(select(vec4<f32>(), input[pixels.y], inside.y), weight, sum1);
      sum2 = fma(select(vec4<f32>(), input[pixels.z], inside.z), weight, sum2);
      sum3 = fma(select(vec4<f32>(), input[pixels.w], inside.w), weight, sum3);
    }
  }

  let sink = (at.z * columns + left) * depth + at.x;
  output[sink] = sum0;
  if (left + 1u < columns) { output[sink + depth] = sum1; }
  if (left + 2u < columns) { output[sink + 2u * depth] = sum2; }
  if (left + 3u < columns) { output[sink + 3u * depth] = sum3; }
}
