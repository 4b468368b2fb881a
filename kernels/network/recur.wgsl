// Recurrent layers behind their inputs' product, which is a dense operator before this one: rows are steps, and its
// filters the gates of all units. A state is the output of the step before, so each step waits for all units of the last.
// They run in the first workgroup of a row, whose lanes alone can wait for each other.
//
// `input`: steps × gates × units; `output`: steps × units, `rows` of them; `other`: the first state, or -1;
// weights, bias and scales as `dense`, from units to gates; `channels` units, `filters` gates × units, whose products
// with the states lie at `d3` in between.

// The states that a step begins with: those of the step before, the first ones, or nothing.
fn states_at(op: Op, base: i32, step: i32, reversed: bool) -> i32 {
  if (step > 0) { return base + op.output + select(step - 1, op.rows - step, reversed) * op.d0; }
  if (op.other >= 0) { return base + op.other; }
  return -1;
}

const REVERSED = 1u;

// ONNX's orders of gates. GRU: update, reset, new, where the reset gate applies behind the product
// (`linear_before_reset`). LSTM: input, output, forget, cell; `d1` is where the cells lie, which only their own lane
// touches, `d2` where they begin, or -1.
fn recur(op: Op, place: Place) {
  let reversed = op.which == REVERSED;
  for (var step = 0; step < op.rows; step++) {
    let at_step = select(step, op.rows - 1 - step, reversed);
    let states = states_at(op, place.base, step, reversed);
    if (place.first < i32(lanes)) {
      for (var four_at = place.first; four_at < (op.filters + 3) / 4; four_at += i32(lanes)) {
        let kept = dot_filters(op, states, select(0, op.channels, states >= 0), four_at);
        let at = place.base + op.d3 + 4 * four_at;
        arena[at] = kept.x; arena[at + 1] = kept.y; arena[at + 2] = kept.z; arena[at + 3] = kept.w;
      }
    }
    storageBarrier();
    if (place.first < i32(lanes)) {
      for (var unit = place.first; unit < op.channels; unit += i32(lanes)) {
        step_unit(op, place, step, at_step, states, unit);
      }
    }
    storageBarrier();
  }
}

fn step_unit(op: Op, place: Place, step: i32, at_step: i32, states: i32, unit: i32) {
  let units = op.channels;
  let output = place.base + op.output + at_step * op.d0 + unit;
  // What the inputs give to each gate, and what the states do. A third gate stands in for a fourth that is not there.
  let gates = vec4<i32>(0, 1, 2, op.filters / units - 1) * units + unit;
  let g = gates + place.base + op.input + at_step * op.filters;
  let k = gates + place.base + op.d3;
  let given = vec4<f32>(arena[g.x], arena[g.y], arena[g.z], arena[g.w]);
  let kept = vec4<f32>(arena[k.x], arena[k.y], arena[k.z], arena[k.w]);
  let open = sigmoid(given + kept);
  if (op.kind == GRU) {
    let fresh = safe_tanh(vec4<f32>(given.z + open.y * kept.z)).x;
    var before = 0.0;
    if (states >= 0) { before = arena[states + unit]; }
    arena[output] = mix(fresh, before, open.x);
    return;
  }
  let cells = place.base + op.d1 + unit;
  var cell = 0.0;
  if (step > 0) {
    cell = arena[cells];
  } else if (op.d2 >= 0) {
    cell = arena[place.base + op.d2 + unit];
  }
  cell = open.z * cell + open.x * safe_tanh(given + kept).w;
  arena[cells] = cell;
  arena[output] = open.y * safe_tanh(vec4<f32>(cell)).x;
}
