// Numbers of a line brought to mean 0 and variance 1, or to length 1. Lines are walked through as in `reduce`. Weights
// and biases by place in the line are optional.

const MEAN_AND_VARIANCE = 0u;
const ROOT_MEAN_SQUARE = 1u;
const LENGTH_1 = 2u;
const LENGTH_2 = 3u;
// Of MeanVarianceNormalization, which adds its small number to the deviation.
const MEAN_AND_DEVIATION = 4u;

// Where an element of a line lies, from the line's start.
fn place_in_line(op: Op, index: i32) -> i32 {
  if (op.rank == 1u) { return index * op.a5; }
  let rest = index / op.d5;
  return index % op.d5 * op.a5 + rest % op.d4 * op.a4 + rest / op.d4 * op.a3;
}

fn has_centre(op: Op) -> bool {
  return op.which == MEAN_AND_VARIANCE || op.which == MEAN_AND_DEVIATION;
}

// By what a line is multiplied, from the sums of its sizes and of their squares.
fn find_factor(op: Op, lengths: f32, squares: f32, size: i32) -> f32 {
  var divisor = sqrt(squares / f32(size) + op.step);
  switch op.which {
    case LENGTH_1: { divisor = lengths; }
    case LENGTH_2: { divisor = sqrt(squares); }
    case MEAN_AND_DEVIATION: { divisor = sqrt(squares / f32(size)) + op.step; }
    default: {}
  }
  // A line of zeros has no length and stays.
  return select(1.0 / divisor, 0.0, divisor == 0.0);
}

fn put_normalised(op: Op, base: i32, first: i32, index: i32, centre: f32, factor: f32) {
  let at = first + place_in_line(op, index);
  var value = (arena[base + op.input + at] - centre) * factor;
  if (op.weights >= 0) { value *= constant(op.weights + index); }
  if (op.bias >= 0) { value += constant(op.bias + index); }
  put(op, base, at, value);
}

fn normalise(op: Op, place: Place, item: i32) {
  let first = start(op, item);
  let input = place.base + op.input + first;
  let size = op.d3 * op.d4 * op.d5;
  var centre = 0.0;
  if (has_centre(op)) {
    for (var i = 0; i < size; i++) { centre += arena[input + place_in_line(op, i)]; }
    centre /= f32(size);
  }
  var lengths = 0.0;
  var squares = 0.0;
  for (var i = 0; i < size; i++) {
    let apart = arena[input + place_in_line(op, i)] - centre;
    lengths += abs(apart);
    squares += apart * apart;
  }
  let factor = find_factor(op, lengths, squares, size);
  for (var i = 0; i < size; i++) { put_normalised(op, place.base, first, i, centre, factor); }
}
