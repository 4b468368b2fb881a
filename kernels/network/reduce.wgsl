// What many elements come to: pools over windows, means and the like over axes, softmax along one.

const MEAN = 0u;
const SUM = 1u;
const LARGEST = 2u;
const SMALLEST = 3u;
const NORM = 4u;
// A mean that counts padding, too.
const PADDED_MEAN = 5u;

// The largest of the bits without a sign shows whether there was NaN, which `max` and `min` may drop.
fn worse(worst: u32, value: f32) -> u32 {
  return max(worst, bitcast<u32>(value) & 0x7fffffffu);
}
fn unless_nan(worst: u32, found: f32) -> f32 {
  return select(found, not_a_number(), worst > 0x7f800000u);
}

fn pool(op: Op, place: Place, item: i32) {
  let pixels = op.outHeight * op.outWidth;
  let pixel = item % pixels;
  let y = pixel / op.outWidth * op.strideY - op.padY;
  let x = pixel % op.outWidth * op.strideX - op.padX;
  let input = place.base + op.input + item / pixels * op.height * op.width;
  var largest = -infinity();
  var worst = 0u;
  var sum = 0.0;
  var count = 0.0;
  for (var ky = 0; ky < op.kernelHeight; ky++) {
    let at_y = y + ky * op.dilationY;
    if (at_y < 0 || at_y >= op.height) { continue; }
    for (var kx = 0; kx < op.kernelWidth; kx++) {
      let at_x = x + kx * op.dilationX;
      if (at_x < 0 || at_x >= op.width) { continue; }
      let value = arena[input + at_y * op.width + at_x];
      largest = max(largest, value);
      worst = worse(worst, value);
      sum += value;
      count += 1.0;
    }
  }
  if (op.which == PADDED_MEAN) { count = f32(op.kernelHeight * op.kernelWidth); }
  put(op, place.base, item, select(sum / count, unless_nan(worst, largest), op.which == LARGEST));
}

// Where an item's elements begin: the first three axes of the index are the item's own, the others are walked through.
fn start(op: Op, item: i32) -> i32 {
  let at2 = item % op.d2;
  let rest = item / op.d2;
  return at2 * op.a2 + rest % op.d1 * op.a1 + rest / op.d1 * op.a0;
}

fn reduce(op: Op, place: Place, item: i32) {
  let input = place.base + op.input + start(op, item);
  var largest = -infinity();
  var smallest = infinity();
  var worst = 0u;
  var sum = 0.0;
  var squares = 0.0;
  for (var i = 0; i < op.d3; i++) {
    for (var j = 0; j < op.d4; j++) {
      var at = input + i * op.a3 + j * op.a4;
      for (var k = 0; k < op.d5; k++) {
        let value = arena[at];
        largest = max(largest, value);
        smallest = min(smallest, value);
        worst = worse(worst, value);
        sum += value;
        squares += value * value;
        at += op.a5;
      }
    }
  }
  var found = sum;
  switch op.which {
    case MEAN: { found /= f32(op.d3 * op.d4 * op.d5); }
    case LARGEST: { found = unless_nan(worst, largest); }
    case SMALLEST: { found = unless_nan(worst, smallest); }
    case NORM: { found = sqrt(squares); }
    default: {}
  }
  put(op, place.base, item, found);
}

const LOGARITHM = 1u;

// The share of an element, or its logarithm.
fn find_share(op: Op, shifted: f32, sum: f32, is_none: bool) -> f32 {
  let share = select(exp(shifted) / sum, shifted - log(sum), op.which == LOGARITHM);
  return quantise(op, vec4<f32>(select(share, not_a_number(), is_none))).x;
}

fn softmax(op: Op, place: Place) {
  let stride = op.a5;
  let size = op.d5;
  for (var item = place.first; item < op.items; item += place.stride) {
    let first = start(op, item);
    let input = place.base + op.input + first;
    let output = place.base + op.output + first;
    var largest = -infinity();
    var worst = 0u;
    for (var i = 0; i < size; i++) {
      let value = arena[input + i * stride];
      largest = max(largest, value);
      worst = worse(worst, value);
    }
    // There are no shares of NaN, of infinity, or of nothing but -infinity.
    let is_none = worst > 0x7f800000u || (bitcast<u32>(largest) & 0x7fffffffu) == 0x7f800000u;
    var sum = 0.0;
    for (var i = 0; i < size; i++) { sum += exp(arena[input + i * stride] - largest); }
    for (var i = 0; i < size; i++) {
      arena[output + i * stride] = find_share(op, arena[input + i * stride] - largest, sum, is_none);
    }
  }
}
