// Where ../tiled-product/in-workgroup-memory.wgsl finds the pixels of a convolution and its weights: fours of filters ×
// channels × kernel × 4.

fn countRows() -> u32 { return u32(count_tiled_rows(ops[0])); }
fn countColumns() -> u32 { return u32(ops[0].filters); }
fn countPitch() -> u32 { return countColumns(); }
fn count_taps() -> u32 { return u32(ops[0].kernelHeight * ops[0].kernelWidth); }
fn countDepth() -> u32 { return u32(ops[0].channels) * count_taps(); }

// Top left corner of a pixel's neighbourhood, and its picture.
struct Origin { corner: vec2<i32>, picture: i32 }

fn findOrigin(pixel: u32, picture: u32) -> Origin {
  let op = ops[0];
  let place = vec2<i32>(i32(pixel) % op.outWidth, i32(pixel) / op.outWidth) * vec2<i32>(op.strideX, op.strideY);
  return Origin(place - vec2<i32>(op.padX, op.padY), i32(picture) * op.arena + op.input);
}

fn readA(origin: Origin, pixel: u32, k: u32) -> f32 {
  let op = ops[0];
  let tap = vec2<i32>(i32(k % count_taps()) % op.kernelWidth, i32(k % count_taps()) / op.kernelWidth);
  let place = origin.corner + tap * vec2<i32>(op.dilationX, op.dilationY);
  let extent = vec2<i32>(op.width, op.height);
  let inside = all(place >= vec2<i32>()) && all(place < extent) && k < countDepth() && pixel < countRows();
  let at = clamp(place, vec2<i32>(), extent - 1);
  let channel = select(0, i32(k / count_taps()), inside);
  return select(0.0, element(origin.picture + (channel * op.height + at.y) * op.width + at.x), inside);
}

fn readB(k: u32, column: u32, picture: u32) -> f32 {
  if (k >= countDepth() || column >= countColumns()) { return 0.0; }
  return constant(ops[0].weights + 4 * (i32(column / 4u) * i32(countDepth()) + i32(k)) + i32(column % 4u));
}

fn store(at: u32, column: u32, value: f32) {
  let op = ops[0];
  put_one(op, find_row(op, i32(at) / op.filters), i32(column), value);
}
