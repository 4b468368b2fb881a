// A convolutional network of its own for every member, over four frames (the form of Mnih et al. 2013): 8×8 with stride 4,
// 4×4 with stride 2, a dense layer, and the outputs. Parameter p of member m stands at p · members + m, and weights in a
// member's row as [output][input][row][column].
//
// Pixels are never made. A frame is constant over cells of 8 or 9 pixels, so a window of 8×8 sees two cells by two at most,
// and its sum is four greys times sums of weights over rectangles, which a table of sums has (Crow 1984).

const WINDOW = 8u;
const TABLE_SIDE = 9u; // sums over 0 to 8 rows and columns
const PLANE_SIDE = 20u; // outputs of the first layer in a row
const MAP_SIDE = 9u; // and of the second
const MAP_AREA = 81u;
const FEATURES = SECOND_CHANNELS * MAP_AREA;
const QUARTETS = (SECOND_CHANNELS + 3u) / 4u;

alias Table = array<f32, 81>;
alias Plane = array<f32, 400>;
/// Maps of four channels at a time; what is beyond the last channel stays 0.
alias Maps = array<vec4f, QUARTETS * MAP_AREA>;

fn weight_of(member: u32, parameter: u32) -> f32 {
  return weights[member + parameter * plan.members];
}

/// Weights that are so far apart in a member's row, one for each channel of a quartet.
fn quartet_of(member: u32, quartet: u32, parameter: u32, apart: u32) -> vec4f {
  let channel = min(4u * quartet + vec4u(0u, 1u, 2u, 3u), vec4u(SECOND_CHANNELS - 1u));
  let at = member + (parameter + channel * apart) * plan.members;
  return vec4f(weights[at.x], weights[at.y], weights[at.z], weights[at.w]);
}

/// Sums of the weights of a window over its first rows and columns.
fn sum_window(member: u32, parameter: u32) -> Table {
  var table: Table;
  for (var row = 1u; row <= WINDOW; row++) {
    var sum = 0f;
    for (var column = 1u; column <= WINDOW; column++) {
      sum += weight_of(member, parameter + WINDOW * (row - 1u) + column - 1u);
      table[TABLE_SIDE * row + column] = sum + table[TABLE_SIDE * (row - 1u) + column];
    }
  }
  return table;
}

/// One channel of the first layer.
fn see_plane(member: u32, observation: Observation, channel: u32) -> Plane {
  var plane: Plane;
  for (var frame = 0u; frame < 4u; frame++) {
    var table = sum_window(member, FIRST_AT + (4u * channel + frame) * WINDOW * WINDOW);
    for (var row = 0u; row < PLANE_SIDE; row++) {
      let top = cell_of_pixel(4u * row);
      let above = observation[10u * frame + top];
      let below = observation[10u * frame + min(top + 1u, 9u)];
      let part = TABLE_SIDE * min(first_pixel_of(top + 1u) - 4u * row, WINDOW);
      let whole = TABLE_SIDE * WINDOW;
      for (var column = 0u; column < PLANE_SIDE; column++) {
        let left = cell_of_pixel(4u * column);
        let seen = vec2u(above, below) >> vec2u(3u * left);
        let columns = min(first_pixel_of(left + 1u) - 4u * column, WINDOW);
        // What is right of the last cell has no columns.
        let near = vec2f(seen & vec2u(7u));
        let far = vec2f((seen >> vec2u(3u)) & vec2u(7u));
        if (((seen.x | seen.y) & 63u) != 0u) {
          // Each rectangle from the corner adds by what it is greyer than the next.
          plane[PLANE_SIDE * row + column] += (near.x - far.x - near.y + far.y) * table[part + columns] +
            (far.x - far.y) * table[part + WINDOW] + (near.y - far.y) * table[whole + columns] + far.y * table[whole + WINDOW];
        }
      }
    }
  }
  let bias = weight_of(member, SECOND_AT - FIRST_CHANNELS + channel);
  for (var index = 0u; index < PLANE_SIDE * PLANE_SIDE; index++) {
    plane[index] = activate(plane[index] / f32(CHANNELS) + bias, ACTIVATION);
  }
  return plane;
}

/// Adds what the second layer makes of one channel of the first.
fn add_plane(maps: ptr<function, Maps>, member: u32, channel: u32, seen: Plane) {
  var plane = seen;
  for (var quartet = 0u; quartet < QUARTETS; quartet++) {
    let first = read_row(member, quartet, channel, 0u);
    let second = read_row(member, quartet, channel, 1u);
    let third = read_row(member, quartet, channel, 2u);
    let fourth = read_row(member, quartet, channel, 3u);
    for (var row = 0u; row < MAP_SIDE; row++) {
      for (var column = 0u; column < MAP_SIDE; column++) {
        let at = 2u * (PLANE_SIDE * row + column);
        (*maps)[quartet * MAP_AREA + row * MAP_SIDE + column] += first * four_of(&plane, at) +
          second * four_of(&plane, at + PLANE_SIDE) +
          third * four_of(&plane, at + 2u * PLANE_SIDE) +
          fourth * four_of(&plane, at + 3u * PLANE_SIDE);
      }
    }
  }
}

/// One row of the windows of a quartet: four places, each with a weight for each channel.
fn read_row(member: u32, quartet: u32, channel: u32, row: u32) -> mat4x4f {
  let at = SECOND_AT + 16u * channel + 4u * row;
  let apart = 16u * FIRST_CHANNELS;
  return mat4x4f(
    quartet_of(member, quartet, at, apart),
    quartet_of(member, quartet, at + 1u, apart),
    quartet_of(member, quartet, at + 2u, apart),
    quartet_of(member, quartet, at + 3u, apart),
  );
}

fn four_of(plane: ptr<function, Plane>, at: u32) -> vec4f {
  return vec4f((*plane)[at], (*plane)[at + 1u], (*plane)[at + 2u], (*plane)[at + 3u]);
}

fn see(member: u32, observation: Observation) -> Maps {
  var maps: Maps;
  for (var channel = 0u; channel < FIRST_CHANNELS; channel++) {
    add_plane(&maps, member, channel, see_plane(member, observation, channel));
  }
  for (var quartet = 0u; quartet < QUARTETS; quartet++) {
    let bias = quartet_of(member, quartet, DENSE_AT - SECOND_CHANNELS, 1u);
    let is_channel = 4u * quartet + vec4u(0u, 1u, 2u, 3u) < vec4u(SECOND_CHANNELS);
    for (var index = quartet * MAP_AREA; index < (quartet + 1u) * MAP_AREA; index++) {
      let sums = maps[index] + bias;
      let made = vec4f(
        activate(sums.x, ACTIVATION),
        activate(sums.y, ACTIVATION),
        activate(sums.z, ACTIVATION),
        activate(sums.w, ACTIVATION),
      );
      maps[index] = select(vec4f(0f), made, is_channel);
    }
  }
  return maps;
}

fn apply_policy(member: u32, observation: Observation) -> Outputs {
  var maps = see(member, observation);
  var outputs: Outputs;
  for (var output = 0u; output < OUTPUTS; output++) {
    outputs[output] = weight_of(member, OUTPUT_AT + OUTPUTS * HIDDEN + output);
  }
  for (var neuron = 0u; neuron < HIDDEN; neuron++) {
    var sum = weight_of(member, DENSE_AT + HIDDEN * FEATURES + neuron);
    for (var quartet = 0u; quartet < QUARTETS; quartet++) {
      for (var place = 0u; place < MAP_AREA; place++) {
        let four = maps[quartet * MAP_AREA + place];
        if (any(four != vec4f(0f))) {
          sum += dot(four, quartet_of(member, quartet, DENSE_AT + neuron * FEATURES + place, MAP_AREA));
        }
      }
    }
    let value = activate(sum, ACTIVATION);
    for (var output = 0u; output < OUTPUTS; output++) {
      outputs[output] += value * weight_of(member, OUTPUT_AT + output * HIDDEN + neuron);
    }
  }
  return outputs;
}
