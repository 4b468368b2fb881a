// Convolution of every channel by its own filter: one pixel × four channels per invocation.

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
  if (at.x >= depth || at.y >= columns) {
    return;
  }
  let before = i32(shape.kernel / 2u);
  let corner = vec2<i32>(vec2<u32>(at.y, at.z % rows) * shape.stride) - before;
  let picture = at.z / rows * shape.height;
  var sum = vec4<f32>();
  for (var ky = 0u; ky < shape.kernel; ky++) {
    for (var kx = 0u; kx < shape.kernel; kx++) {
      let place = corner + vec2<i32>(vec2<u32>(kx, ky));
      if (all(place >= vec2<i32>()) && place.x < i32(shape.width) && place.y < i32(shape.height)) {
        let pixel = (picture + u32(place.y)) * shape.width + u32(place.x);
        sum = fma(input[pixel * depth + at.x], weights[(ky * shape.kernel + kx) * depth + at.x], sum);
      }
    }
  }
  output[(at.z * columns + at.y) * depth + at.x] = sum;
}
