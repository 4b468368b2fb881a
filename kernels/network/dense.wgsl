// A product of rows × channels with channels × filters. Weights: for each channel, fours of filters.

// Products of an activation with the weights of four filters, and their bias.
fn dot_filters(op: Op, at: i32, channels: i32, four_at: i32) -> vec4<f32> {
  let fours = (op.filters + 3) / 4;
  var sums = vec4<f32>();
  if (op.bias >= 0) { sums = constant4(op.bias + 4 * four_at); }
  for (var begin = 0; begin < channels; begin += op.scaleBlock) {
    let end = min(begin + op.scaleBlock, channels);
    var part = vec4<f32>();
    for (var channel = begin; channel < end; channel++) {
      part += arena[at + channel] * four(op, op.weights, channel * fours + four_at);
    }
    if (weight_types != FLOATS_ONLY && op.scales >= 0) { part *= scales_of(op, begin, four_at); }
    sums += part;
  }
  return sums;
}

// Scales of four filters, by block of channels.
fn scales_of(op: Op, channel: i32, four_at: i32) -> vec4<f32> {
  return constant4(op.scales + 4 * (channel / op.scaleBlock * ((op.filters + 3) / 4) + four_at));
}

fn dense(op: Op, place: Place, item: i32) {
  let sums = dot_filters(op, place.base + op.input, op.channels, item);
  put4(op, place.base, 0, 4 * item + vec4<i32>(0, 1, 2, 3), op.filters, sums);
}

// Four rows together, each weight being read once for them.
fn dense_rows(op: Op, place: Place, item: i32) {
  let fours = (op.filters + 3) / 4;
  let four_at = item % fours;
  let first = item / fours * 4;
  let rows = min(first + vec4<i32>(0, 1, 2, 3), vec4<i32>(op.rows - 1));
  let at = place.base + op.input + op.channels * rows;
  var s0 = vec4<f32>(); var s1 = vec4<f32>(); var s2 = vec4<f32>(); var s3 = vec4<f32>();
  for (var begin = 0; begin < op.channels; begin += op.scaleBlock) {
    let end = min(begin + op.scaleBlock, op.channels);
    var p0 = vec4<f32>(); var p1 = vec4<f32>(); var p2 = vec4<f32>(); var p3 = vec4<f32>();
    for (var channel = begin; channel < end; channel++) {
      let w = four(op, op.weights, channel * fours + four_at);
      p0 += arena[at.x + channel] * w;
      p1 += arena[at.y + channel] * w;
      p2 += arena[at.z + channel] * w;
      p3 += arena[at.w + channel] * w;
    }
    var scale = vec4<f32>(1.0);
    if (weight_types != FLOATS_ONLY && op.scales >= 0) { scale = scales_of(op, begin, four_at); }
    s0 += scale * p0; s1 += scale * p1; s2 += scale * p2; s3 += scale * p3;
  }
  var bias = vec4<f32>();
  if (op.bias >= 0) { bias = constant4(op.bias + 4 * four_at); }
  for (var row = first; row < min(first + 4, op.rows); row++) {
    put4(op, place.base, row * op.filters, 4 * four_at + vec4<i32>(0, 1, 2, 3), op.filters, s0 + bias);
    s0 = s1; s1 = s2; s2 = s3;
  }
}
