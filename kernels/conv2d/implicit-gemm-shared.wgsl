// Convolution as a product of the pixels' neighbourhoods, which are never written down, and the weights. The body is
// ../tiled-product/in-workgroup-memory.wgsl.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, filters: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<f32>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<f32>; // kernel² × ⌈channels⌉₄ × ⌈filters⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<f32>; // batch × pixels × ⌈filters⌉₄

fn countPixels(extent: u32) -> u32 { return (extent + shape.stride - 1u) / shape.stride; }
fn countRows() -> u32 { return countPixels(shape.height) * countPixels(shape.width); }
fn countColumns() -> u32 { return shape.filters; }
fn countPitch() -> u32 { return (shape.filters + 3u) / 4u * 4u; }
fn countChannels() -> u32 { return (shape.channels + 3u) / 4u * 4u; }
fn countDepth() -> u32 { return shape.kernel * shape.kernel * countChannels(); }

// Top left corner of a pixel's neighbourhood, and its picture.
struct Origin { corner: vec2<i32>, picture: u32 }

fn findOrigin(pixel: u32, picture: u32) -> Origin {
  let columns = countPixels(shape.width);
  let place = vec2<u32>(pixel % columns, pixel / columns) * shape.stride;
  return Origin(vec2<i32>(place) - i32(shape.kernel / 2u), picture);
}

fn readA(origin: Origin, pixel: u32, k: u32) -> f32 {
  let channels = countChannels();
  let tap = k / channels;
  let place = origin.corner + vec2<i32>(vec2<u32>(tap % shape.kernel, tap / shape.kernel));
  let extent = vec2<i32>(vec2<u32>(shape.width, shape.height));
  let inside = all(place >= vec2<i32>()) && all(place < extent) && k < countDepth() && pixel < countRows();
  let at = vec2<u32>(clamp(place, vec2<i32>(), extent - 1));
  let source = ((origin.picture * shape.height + at.y) * shape.width + at.x) * channels + k % channels;
  return select(0.0, input[source], inside);
}

fn readB(k: u32, column: u32, picture: u32) -> f32 {
  return select(0.0, weights[k * countPitch() + column], k < countDepth() && column < countPitch());
}

fn store(at: u32, column: u32, value: f32) { output[at] = value; }
