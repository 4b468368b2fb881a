// A graph of its own for every member; policy-layout.ts says how a row is laid out. Number p of member m stands at
// p · members + m, so that lanes of neighbouring members read neighbouring words.

const SLOPE = 4.9f; // Stanley and Miikkulainen 2002, section 4.1

fn node_at(at: u32) -> u32 {
  return min(u32(weights[at]), NODES - 1u);
}

fn apply_policy(member: u32, observation: Observation) -> Outputs {
  let pitch = plan.members;
  var values: array<f32, NODES>;
  for (var input = 0u; input < OBSERVATION_SIZE; input++) {
    values[input] = input_at(observation, input);
  }
  values[OBSERVATION_SIZE] = 1f;
  // What nothing leads to is a sigmoid of 0.
  for (var output = 0u; output < OUTPUTS; output++) {
    values[OBSERVATION_SIZE + 1u + output] = 0.5f;
  }
  let connections = min(u32(weights[member]), CONNECTIONS);
  var at = member + pitch;
  var sum = 0f;
  for (var connection = 0u; connection < connections; connection++) {
    sum += weights[at + 2u * pitch] * values[node_at(at)];
    let target_node = node_at(at + pitch);
    at += 3u * pitch;
    if (connection + 1u == connections || node_at(at + pitch) != target_node) {
      values[target_node] = 0.5f + 0.5f * hyperbolic_tangent(0.5f * SLOPE * sum);
      sum = 0f;
    }
  }
  var outputs: Outputs;
  for (var output = 0u; output < OUTPUTS; output++) {
    outputs[output] = values[OBSERVATION_SIZE + 1u + output];
  }
  return outputs;
}
