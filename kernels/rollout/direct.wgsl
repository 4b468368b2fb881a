// No network: a member's parameters are its outputs, as they are. Parameter p of member m stands at p · members + m.

fn apply_policy(member: u32, observation: Observation) -> Outputs {
  var outputs: Outputs;
  for (var index = 0u; index < OUTPUTS; index++) {
    outputs[index] = weights[index * plan.members + member];
  }
  return outputs;
}
