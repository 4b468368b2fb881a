// Where ../tiled-product/pictures-in-registers.wgsl finds the pixels of a convolution, whose channels were laid together
// at `d0` of the arena, and its weights: fours of filters × channels × kernel × 4.

// Whether the channels do not fill their last vector, which then holds anything.
override has_rest: bool = true;

fn loadPixel(at: u32, channels: u32) -> vec4<f32> {
  let found = arena4[at];
  if (!has_rest) { return found; }
  let channel = 4u * channels + vec4<u32>(0u, 1u, 2u, 3u);
  return select(vec4<f32>(), found, channel < vec4<u32>(u32(ops[0].channels)));
}

fn loadWeight(at: u32) -> vec4<f32> { return weights4[at]; }

fn findWindow(picture: u32) -> Window {
  let op = ops[0];
  let taps = u32(op.kernelHeight * op.kernelWidth);
  return Window(
    u32(op.outHeight * op.outWidth), u32(op.outWidth), u32(op.filters + 3) / 4u,
    vec2<u32>(u32(op.width), u32(op.height)),
    u32(i32(picture) * op.arena + op.d0) / 4u, u32(op.channels + 3) / 4u,
    vec2<u32>(u32(op.kernelWidth), u32(op.kernelHeight)), vec2<u32>(u32(op.strideX), u32(op.strideY)),
    vec2<u32>(u32(op.dilationX), u32(op.dilationY)), vec2<u32>(u32(op.padX), u32(op.padY)),
    u32(op.weights) / 4u, 1u, taps, u32(op.channels) * taps,
  );
}

fn store(at: u32, column: u32, value: vec4<f32>) {
  let op = ops[0];
  put_four(op, find_row(op, i32(at) / ((op.filters + 3) / 4)), 4 * i32(column), value);
}
