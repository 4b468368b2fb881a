// Convolution from its definition: four pixels of a row × four filters in registers per invocation.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, filters: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>; // kernel² × ⌈channels⌉₄ × ⌈filters⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>; // batch × rows × columns × ⌈filters⌉₄

override lanesN: u32 = 4;
override lanesX: u32 = 2;

fn multiplyAdd(sum: vec4<f32>, x: vec4<f32>, w0: vec4<f32>, w1: vec4<f32>, w2: vec4<f32>, w3: vec4<f32>) -> vec4<f32> {
  return fma(x.wwww, w3, fma(x.zzzz, w2, fma(x.yyyy, w1, fma(x.xxxx, w0, sum))));
}

@compute @workgroup_size(lanesN, lanesX)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let depth = (shape.channels + 3u) / 4u;
  let filters = (shape.filters + 3u) / 4u;
  let rows = (shape.height + shape.stride - 1u) / shape.stride;
  let columns = (shape.width + shape.stride - 1u) / shape.stride;
  let left = 4u * at.y;
  if (at.x >= filters || left >= columns) {
    return;
  }
  let before = i32(shape.kernel / 2u);
  let top = i32(at.z % rows * shape.stride) - before;
  let picture = at.z / rows * shape.height;
  let starts = vec4<i32>((left + vec4<u32>(0u, 1u, 2u, 3u)) * shape.stride) - before;

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
      let inside = (xs >= vec4<i32>()) & (xs < vec4<i32>(i32(shape.width)));
      let pixels = (row + vec4<u32>(clamp(xs, vec4<i32>(), vec4<i32>(i32(shape.width) - 1)))) * depth;
      let tap = (ky * shape.kernel + kx) * 4u * depth * filters + at.x;
      for (var c = 0u; c < depth; c++) {
        let weight = tap + 4u * c * filters;
        let w0 = weights[weight];
        let w1 = weights[weight + filters];
        let w2 = weights[weight + 2u * filters];
        let w3 = weights[weight + 3u * filters];
        sum0 = multiplyAdd(sum0, select(vec4<f32>(), input[pixels.x + c], inside.x), w0, w1, w2, w3);
        sum1 = multiplyAdd(sum1, select(vec4<f32>(), input[pixels.y + c], inside.y), w0, w1, w2, w3);
        sum2 = multiplyAdd(sum2, select(vec4<f32>(), input[pixels.z + c], inside.z), w0, w1, w2, w3);
        sum3 = multiplyAdd(sum3, select(vec4<f32>(), input[pixels.w + c], inside.w), w0, w1, w2, w3);
      }
    }
  }

  let sink = (at.z * columns + left) * filters + at.x;
  output[sink] = sum0;
  if (left + 1u < columns) { output[sink + filters] = sum1; }
  if (left + 2u < columns) { output[sink + 2u * filters] = sum2; }
  if (left + 3u < columns) { output[sink + 3u * filters] = sum3; }
}
