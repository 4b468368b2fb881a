// Operators over long lines, with a workgroup for each line, as the row-per-group variants of ../softmax and ../layernorm
// have it: lanes stride along the line and meet in workgroup memory.
//
// The files before have the kinds and functions of a network; ../row-per-group/meet-in-workgroup.wgsl follows.

// Where a line begins in the arena of its row, and a lane in the line.
struct Line { base: i32, first: i32, size: i32, index: i32, lane: u32 }

@compute @workgroup_size(lanes)
fn run_lines(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let op = ops[0];
  let size = op.d3 * op.d4 * op.d5;
  for (var index = i32(group.x); index < op.items; index += i32(groups.x)) {
    let line = Line(i32(group.y) * op.arena, start(op, index), size, index, lane);
    if (has_softmax && op.kind == SOFTMAX) { soften_line(op, line); }
    if (has_normalise && op.kind == NORMALISE) { normalise_line(op, line); }
    if (has_reduce && op.kind == REDUCE) { reduce_line(op, line); }
    if (has_reduce_seldom && op.kind == REDUCE_SELDOM) { reduce_line_seldom(op, line); }
  }
}

fn read_line(op: Op, line: Line, i: i32) -> f32 {
  return arena[line.base + op.input + line.first + place_in_line(op, i)];
}

// The sum of exponentials of a line's elements less `high`.
fn sum_exponentials(op: Op, line: Line, high: f32) -> f32 {
  var sum = 0.0;
  for (var i = i32(line.lane); i < line.size; i += i32(lanes)) {
    sum += safe_exp(vec4<f32>(read_line(op, line, i) - high)).x;
  }
  return sum_of_lanes(line.lane, sum);
}

fn find_largest(op: Op, line: Line) -> f32 {
  var largest = -infinity();
  for (var i = i32(line.lane); i < line.size; i += i32(lanes)) { largest = max(largest, read_line(op, line, i)); }
  return largest_of_lanes(line.lane, largest);
}

fn soften_line(op: Op, line: Line) {
  let largest = find_largest(op, line);
  let sum = sum_exponentials(op, line, largest);
  // As in `softmax`; a sum with NaN is NaN.
  let is_none = is_nan(sum) || (bitcast<u32>(largest) & 0x7fffffffu) >= 0x7f800000u;
  for (var i = i32(line.lane); i < line.size; i += i32(lanes)) {
    let at = line.base + op.output + line.first + place_in_line(op, i);
    arena[at] = find_share(op, read_line(op, line, i) - largest, sum, is_none);
  }
}

fn normalise_line(op: Op, line: Line) {
  var centre = 0.0;
  if (has_centre(op)) {
    for (var i = i32(line.lane); i < line.size; i += i32(lanes)) { centre += read_line(op, line, i); }
    centre = sum_of_lanes(line.lane, centre) / f32(line.size);
  }
  let is_length = op.which == LENGTH_1;
  var sum = 0.0;
  for (var i = i32(line.lane); i < line.size; i += i32(lanes)) {
    let apart = read_line(op, line, i) - centre;
    sum += select(apart * apart, abs(apart), is_length);
  }
  sum = sum_of_lanes(line.lane, sum);
  let factor = find_factor(op, sum, sum, line.size);
  for (var i = i32(line.lane); i < line.size; i += i32(lanes)) {
    put_normalised(op, line.base, line.first, i, centre, factor);
  }
}

fn reduce_line(op: Op, line: Line) {
  // The smallest is the largest of the negated ones.
  let sign = select(1.0, -1.0, op.which == SMALLEST);
  var largest = -infinity();
  var worst = 0u;
  var sum = 0.0;
  for (var i = i32(line.lane); i < line.size; i += i32(lanes)) {
    let value = read_line(op, line, i);
    largest = max(largest, sign * value);
    worst = worse(worst, value);
    sum += select(value, value * value, op.which == NORM);
  }
  var found = 0.0;
  if (op.which == LARGEST || op.which == SMALLEST) {
    let nans = sum_of_lanes(line.lane, select(0.0, 1.0, worst > 0x7f800000u));
    let extreme = sign * largest_of_lanes(line.lane, largest);
    found = select(extreme, not_a_number(), nans > 0.0);
  } else {
    found = sum_of_lanes(line.lane, sum);
    if (op.which == MEAN) { found /= f32(line.size); }
    if (op.which == NORM) { found = sqrt(found); }
  }
  if (line.lane == 0u) { put(op, line.base, line.index, found); }
}

fn reduce_line_seldom(op: Op, line: Line) {
  var found = 0.0;
  if (op.which == PLACE_OF_LARGEST || op.which == PLACE_OF_SMALLEST) {
    found = f32(find_extreme(op, line));
  } else if (op.which == LOG_OF_EXPONENTIALS) {
    let largest = find_largest(op, line);
    found = largest + log(sum_exponentials(op, line, largest));
  } else {
    var sum = 0.0;
    for (var i = i32(line.lane); i < line.size; i += i32(lanes)) {
      let value = read_line(op, line, i);
      sum += select(abs(value), value * value, op.which == SUM_OF_SQUARES);
    }
    found = sum_of_lanes(line.lane, sum);
  }
  if (line.lane == 0u) { put(op, line.base, line.index, found); }
}

// Places of the elements in `shares`.
var<workgroup> places: array<i32, lanes>;

// Place of the largest element or the smallest one. As in `reduce_seldom`, NaN counts at the first place alone.
fn find_extreme(op: Op, line: Line) -> i32 {
  let sign = select(1.0, -1.0, op.which == PLACE_OF_SMALLEST);
  let lane = line.lane;
  var best = sign * read_line(op, line, 0);
  var best_at = 0;
  for (var i = i32(lane); i < line.size; i += i32(lanes)) {
    let value = sign * read_line(op, line, i);
    let is_better = value > best || (op.rows != 0 && value == best);
    best = select(best, value, is_better);
    best_at = select(best_at, i, is_better);
  }
  shares[lane] = best;
  places[lane] = best_at;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      let other = lane + half;
      let is_before = (places[other] < places[lane]) != (op.rows != 0);
      if (shares[other] > shares[lane] || (shares[other] == shares[lane] && is_before)) {
        shares[lane] = shares[other];
        places[lane] = places[other];
      }
    }
  }
  workgroupBarrier();
  let found = places[0];
  workgroupBarrier();
  return found;
}
