// A dense network of its own for every member. Parameter p of member m stands at p · members + m, so that lanes of
// neighbouring members read neighbouring words. `sum_inputs` gives the first layer's sums: see mlp-numbers.wgsl.

alias Layer = array<f32, WIDEST>;

fn activate_layer(sums: ptr<function, Layer>, layer: u32, width: u32) {
  let activation = select(HIDDEN_ACTIVATION, OUTPUT_ACTIVATION, layer + 1u == LAYERS);
  for (var output = 0u; output < width; output++) {
    (*sums)[output] = activate((*sums)[output], activation);
  }
}

fn apply_policy(member: u32, observation: Observation) -> Outputs {
  let pitch = plan.members;
  var widths = WIDTHS;
  var before = sum_inputs(member, observation, widths[1]);
  activate_layer(&before, 0u, widths[1]);
  var at = member + (OBSERVATION_SIZE + 1u) * widths[1] * pitch;
  for (var layer = 1u; layer < LAYERS; layer++) {
    let inner = widths[layer];
    let outer = widths[layer + 1u];
    var bias = at + inner * outer * pitch;
    var after: Layer;
    for (var output = 0u; output < outer; output++) {
      var sum = weights[bias];
      for (var input = 0u; input < inner; input++) {
        sum += weights[at] * before[input];
        at += pitch;
      }
      after[output] = sum;
      bias += pitch;
    }
    activate_layer(&after, layer, outer);
    at = bias;
    before = after;
  }
  var outputs: Outputs;
  for (var index = 0u; index < OUTPUTS; index++) {
    outputs[index] = before[index];
  }
  return outputs;
}
