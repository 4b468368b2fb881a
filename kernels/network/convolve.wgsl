// Convolutions over pictures channels × height × width; a series is a picture of height 1. Eight filters and eight
// pixels are computed together, since loads are what takes time; the pixels are an eighth of the picture apart, so that
// neighbouring lanes read neighbours. Weights: for each group and four of its filters, channels × kernel × 4; a group
// has an even number of fours.

struct Pixels { y: vec4<i32>, x: vec4<i32>, at: vec4<i32> }

// What hangs over the end computes with the last pixel and is not stored.
fn find_pixels(op: Op, first: i32, apart: i32) -> Pixels {
  let last = op.outHeight * op.outWidth - 1;
  let at = first + apart * vec4<i32>(0, 1, 2, 3);
  let inside = min(at, vec4<i32>(last));
  return Pixels(inside / op.outWidth, inside % op.outWidth, at);
}

// Where the taps of an axis read. A transposed convolution's output is `stride` times as long as its input.
struct Taps { stride: i32, dilation: i32, pad: i32, size: i32, transposed: bool }

const TRANSPOSED = 1u;
override has_transposed: bool = true;

fn taps_down(op: Op) -> Taps {
  let transposed = op.which == TRANSPOSED;
  return Taps(op.strideY, op.dilationY, op.padY, op.height, transposed);
}

fn taps_along(op: Op) -> Taps {
  let transposed = op.which == TRANSPOSED;
  return Taps(op.strideX, op.dilationX, op.padX, op.width, transposed);
}

// Where a tap reads for four pixels, below zero where that is beside the picture.
fn tap_at(out: vec4<i32>, tap: i32, taps: Taps) -> vec4<i32> {
  if (has_transposed && taps.transposed) {
    let scaled = out + (taps.pad - tap * taps.dilation);
    let source = scaled / taps.stride;
    let is_there = (scaled >= vec4<i32>()) & (source * taps.stride == scaled) & (source < vec4<i32>(taps.size));
    return select(vec4<i32>(-1), source, is_there);
  }
  let at = out * taps.stride + (tap * taps.dilation - taps.pad);
  return select(vec4<i32>(-1), at, at < vec4<i32>(taps.size));
}

// Reads four pixels of a channel; what is beside the picture is zero.
fn see(at: vec4<i32>, inside: vec4<bool>) -> vec4<f32> {
  return select(vec4<f32>(), vec4<f32>(arena[at.x], arena[at.y], arena[at.z], arena[at.w]), inside);
}

fn convolve(op: Op, place: Place, item: i32) {
  let pixels = op.outHeight * op.outWidth;
  let eighth = (pixels + 7) / 8;
  let eights = (op.filters + 7) / 8;
  let taps = op.kernelHeight * op.kernelWidth;
  let inputs = op.channels * taps;
  let picture = op.height * op.width;
  let has_blocks = weight_types != FLOATS_ONLY && op.scaleBlock < inputs;
  let four_at = item / eighth * 2;
  let group = item / eighth / eights;
  let near = find_pixels(op, item % eighth, eighth);
  let far = find_pixels(op, item % eighth + 4 * eighth, eighth);
  let input = place.base + op.input + group * op.channels * picture;
  let down = taps_down(op);
  let along = taps_along(op);
  // Filters' sums over the near pixels, and over the far ones.
  var n0 = vec4<f32>(); var f0 = vec4<f32>();
  var n1 = vec4<f32>(); var f1 = vec4<f32>();
  var n2 = vec4<f32>(); var f2 = vec4<f32>();
  var n3 = vec4<f32>(); var f3 = vec4<f32>();
  var n4 = vec4<f32>(); var f4 = vec4<f32>();
  var n5 = vec4<f32>(); var f5 = vec4<f32>();
  var n6 = vec4<f32>(); var f6 = vec4<f32>();
  var n7 = vec4<f32>(); var f7 = vec4<f32>();
  for (var ky = 0; ky < op.kernelHeight; ky++) {
    let near_y = tap_at(near.y, ky, down);
    let far_y = tap_at(far.y, ky, down);
    for (var kx = 0; kx < op.kernelWidth; kx++) {
      let near_x = tap_at(near.x, kx, along);
      let far_x = tap_at(far.x, kx, along);
      let is_near = (near_y >= vec4<i32>()) & (near_x >= vec4<i32>());
      let is_far = (far_y >= vec4<i32>()) & (far_x >= vec4<i32>());
      var near_at = input + select(vec4<i32>(), near_y * op.width + near_x, is_near);
      var far_at = input + select(vec4<i32>(), far_y * op.width + far_x, is_far);
      var weight = four_at * inputs + ky * op.kernelWidth + kx;
      for (var channel = 0; channel < op.channels; channel++) {
        let n = see(near_at, is_near);
        let f = see(far_at, is_far);
        var v = four(op, op.weights, weight);
        var w = four(op, op.weights, weight + inputs);
        if (has_blocks) {
          v *= scale4(op, four_at, weight);
          w *= scale4(op, four_at + 1, weight);
        }
        n0 += n * v.x; f0 += f * v.x;
        n1 += n * v.y; f1 += f * v.y;
        n2 += n * v.z; f2 += f * v.z;
        n3 += n * v.w; f3 += f * v.w;
        n4 += n * w.x; f4 += f * w.x;
        n5 += n * w.y; f5 += f * w.y;
        n6 += n * w.z; f6 += f * w.z;
        n7 += n * w.w; f7 += f * w.w;
        near_at += picture;
        far_at += picture;
        weight += taps;
      }
    }
  }
  let filter_at = 8 * (item / eighth % eights);
  var first = (group * op.filters + filter_at) * pixels;
  for (var row = 0; row < min(8, op.filters - filter_at); row++) {
    var scale = 1.0;
    if (weight_types != FLOATS_ONLY && op.scales >= 0 && !has_blocks) { scale = constant(op.scales + 4 * four_at + row); }
    var bias = 0.0;
    if (op.bias >= 0) { bias = constant(op.bias + 4 * four_at + row); }
    put4(op, place.base, first, near.at, pixels, n0 * scale + bias);
    put4(op, place.base, first, far.at, pixels, f0 * scale + bias);
    first += pixels;
    n0 = n1; n1 = n2; n2 = n3; n3 = n4; n4 = n5; n5 = n6; n6 = n7;
    f0 = f1; f1 = f2; f2 = f3; f3 = f4; f4 = f5; f5 = f6; f6 = f7;
  }
}

// Scales of four filters: by block of inputs and then by four.
fn scale4(op: Op, four_at: i32, weight: i32) -> vec4<f32> {
  let inputs = op.channels * op.kernelHeight * op.kernelWidth;
  let blocks = (inputs + op.scaleBlock - 1) / op.scaleBlock;
  let block = select(0, weight % inputs / op.scaleBlock, blocks > 1);
  return constant4(op.scales + 4 * (four_at * blocks + block));
}

// The weight of a tap of a filter that sees one channel. Floats: filters × taps; packed: for each four taps and each
// filter, four.
fn tap_weight(op: Op, first: i32, filter_at: i32, tap: i32, taps: i32) -> f32 {
  if (weight_types != FLOATS_ONLY && op.weightType != 0u) { return four(op, first, tap / 4 * op.rows + filter_at)[tap % 4]; }
  return constant(first + filter_at * taps + tap);
}

// Each of `rows` filters sees one channel, and each channel has `filters` of them.
fn convolve_each(op: Op, place: Place, item: i32) {
  let pixels = op.outHeight * op.outWidth;
  let quarter = (pixels + 3) / 4;
  let picture = op.height * op.width;
  let filter_at = item / quarter;
  let pixel = find_pixels(op, item % quarter, quarter);
  let input = place.base + op.input + filter_at / op.filters * picture;
  let down = taps_down(op);
  let along = taps_along(op);
  let first = op.weights;
  let heights = op.kernelHeight;
  let widths = op.kernelWidth;
  let width = op.width;
  let taps = heights * widths;
  var sums = vec4<f32>();
  for (var ky = 0; ky < heights; ky++) {
    let y = tap_at(pixel.y, ky, down);
    for (var kx = 0; kx < widths; kx++) {
      let x = tap_at(pixel.x, kx, along);
      let inside = (y >= vec4<i32>()) & (x >= vec4<i32>());
      let at = input + select(vec4<i32>(), y * width + x, inside);
      sums += see(at, inside) * tap_weight(op, first, filter_at, ky * widths + kx, taps);
    }
  }
  if (weight_types != FLOATS_ONLY && op.scales >= 0) { sums *= constant(op.scales + filter_at); }
  if (op.bias >= 0) { sums += constant(op.bias + filter_at); }
  put4(op, place.base, filter_at * pixels, pixel.at, pixels, sums);
}
