// Convolution as a product of the pixels' neighbourhoods and the weights, by ../tiled-product/pictures-in-registers.wgsl,
// ../tiled-product/in-registers.wgsl and ../tiled-product/blocks.wgsl.

struct Shape { batch: u32, height: u32, width: u32, channels: u32, filters: u32, kernel: u32, stride: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>; // batch × height × width × ⌈channels⌉₄
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>; // kernel² × ⌈channels⌉₄ × ⌈filters⌉₄
@group(0) @binding(3) var<storage, read_write> output: array<vec4<f32>>; // batch × pixels × ⌈filters⌉₄

fn store(at: u32, column: u32, value: vec4<f32>) { output[at] = value; }

// Channels beyond the last are zeros.
fn loadPixel(at: u32, channels: u32) -> vec4<f32> { return input[at]; }
fn loadWeight(at: u32) -> vec4<f32> { return weights[at]; }

fn findWindow(picture: u32) -> Window {
  let depth = (shape.channels + 3u) / 4u;
  let filters = (shape.filters + 3u) / 4u;
  let columns = (shape.width + shape.stride - 1u) / shape.stride;
  let rows = (shape.height + shape.stride - 1u) / shape.stride;
  return Window(
    rows * columns, columns, filters,
    vec2<u32>(shape.width, shape.height), picture * shape.height * shape.width * depth, depth,
    vec2<u32>(shape.kernel), vec2<u32>(shape.stride), vec2<u32>(1u), vec2<u32>(shape.kernel / 2u),
    0u, 4u * depth * filters, filters, 1u,
  );
}
