// Where ../tiled-product/in-slices.wgsl finds the pixels of a convolution and its weights: fours of filters × channels ×
// kernel × 4. The depth goes along the kernel, and at each of its places along the channels by fours.

// Top left corner of a pixel's neighbourhood, its picture, and the weights of its filters.
struct Source { corner: vec2<i32>, picture: i32, filters: i32 }

fn count_fours() -> i32 { return (ops[0].channels + 3) / 4; }
fn count_taps() -> i32 { return ops[0].kernelHeight * ops[0].kernelWidth; }
fn countDepth() -> u32 { return u32(count_fours() * count_taps()); }

fn findProduct(index: u32) -> Product {
  let op = ops[0];
  return Product(u32(op.outHeight * op.outWidth), u32(op.filters + 3) / 4u, index);
}

fn findSource(product: Product, row: u32, column: u32) -> Source {
  let op = ops[0];
  let place = vec2<i32>(i32(row) % op.outWidth, i32(row) / op.outWidth) * vec2<i32>(op.strideX, op.strideY);
  let filters = op.weights / 4 + i32(column) * op.channels * count_taps();
  return Source(place - vec2<i32>(op.padX, op.padY), i32(product.index) * op.arena + op.input, filters);
}

// Four channels of a neighbour; those that are not there are 0.
fn readA(source: Source, k: u32) -> vec4<f32> {
  let op = ops[0];
  let tap = i32(k) / count_fours();
  let channel = 4 * (i32(k) - tap * count_fours());
  let away = vec2<i32>(tap % op.kernelWidth, tap / op.kernelWidth) * vec2<i32>(op.dilationX, op.dilationY);
  let place = source.corner + away;
  let extent = vec2<i32>(op.width, op.height);
  if (tap >= count_taps() || any(place < vec2<i32>()) || any(place >= extent)) { return vec4<f32>(); }
  let plane = op.height * op.width;
  let channels = channel + vec4<i32>(0, 1, 2, 3);
  let is_there = channels < vec4<i32>(op.channels);
  // Beyond the last channel it reads that one again.
  let at = source.picture + min(channels, vec4<i32>(op.channels - 1)) * plane + place.y * op.width + place.x;
  return select(vec4<f32>(), vec4<f32>(element(at.x), element(at.y), element(at.z), element(at.w)), is_there);
}

fn readB(source: Source, k: u32) -> vec4<f32> {
  let tap = i32(k / 4u) / count_fours();
  let channel = i32(k) - 4 * tap * count_fours();
  if (tap >= count_taps() || channel >= ops[0].channels) { return vec4<f32>(); }
  return weights4[source.filters + channel * count_taps() + tap];
}

fn store(at: u32, column: u32, value: vec4<f32>) {
  let op = ops[0];
  put_four(op, find_row(op, i32(at) / ((op.filters + 3) / 4)), 4 * i32(column), value);
}
