// Convolution as a product of the pixels' neighbourhoods and the weights, with square tiles of both in
// workgroup memory: one element of the output per invocation.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, filters: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<f32>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<f32>; // kernel² × ⌈channels⌉₄ × ⌈filters⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<f32>; // batch × pixels × ⌈filters⌉₄

override tile: u32 = 16;

var<workgroup> tileA: array<f32, tile * tile>;
var<workgroup> tileB: array<f32, tile * tile>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let depth = (shape.channels + 3u) / 4u * 4u;
  let pitch = (shape.filters + 3u) / 4u * 4u;
  let products = shape.kernel * shape.kernel * depth;
  let columns = (shape.width + shape.stride - 1u) / shape.stride;
  let pixels = (shape.height + shape.stride - 1u) / shape.stride * columns;
  let corner = vec2<i32>(vec2<u32>(at.y % columns, at.y / columns) * shape.stride) - i32(shape.kernel / 2u);
  let extent = vec2<i32>(vec2<u32>(shape.width, shape.height));
  let slot = lane.y * tile + lane.x;
  var sum = 0.0;
  for (var start = 0u; start < products; start += tile) {
    let product = start + lane.x;
    let tap = product / depth;
    let place = corner + vec2<i32>(vec2<u32>(tap % shape.kernel, tap / shape.kernel));
    let inside = all(place >= vec2<i32>()) && all(place < extent) && product < products && at.y < pixels;
    let pixel = vec2<u32>(clamp(place, vec2<i32>(), extent - 1));
    let source = ((at.z * shape.height + pixel.y) * shape.width + pixel.x) * depth + product % depth;
    tileA[slot] = select(0.0, input[source], inside);
    let row = start + lane.y;
    tileB[slot] = select(0.0, weights[row * pitch + at.x], row < products && at.x < pitch);
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum = fma(tileA[lane.y * tile + k], tileB[k * tile + lane.x], sum);
    }
    workgroupBarrier();
  }
  if (at.y < pixels && at.x < shape.filters) {
    output[(at.z * pixels + at.y) * pitch + at.x] = sum;
  }
}
