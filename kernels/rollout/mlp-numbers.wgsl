// The first layer of a dense network, of numbers.

fn sum_inputs(member: u32, observation: Observation, outer: u32) -> Layer {
  let pitch = plan.members;
  var sums: Layer;
  var at = member;
  var bias = member + OBSERVATION_SIZE * outer * pitch;
  for (var output = 0u; output < outer; output++) {
    var sum = weights[bias];
    for (var input = 0u; input < OBSERVATION_SIZE; input++) {
      sum += weights[at] * observation[input];
      at += pitch;
    }
    sums[output] = sum;
    bias += pitch;
  }
  return sums;
}
