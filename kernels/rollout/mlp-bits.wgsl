// The first layer of a dense network, of zeros and ones: the weights of ones are added in the order of the inputs, and
// those of zeros never read. The sums are those of mlp-numbers.wgsl to the bit where all weights are finite.

fn sum_inputs(member: u32, observation: Observation, outer: u32) -> Layer {
  let pitch = plan.members;
  let row = OBSERVATION_SIZE * pitch;
  var sums: Layer;
  // Four outputs at a time stay in registers.
  for (var first = 0u; first < outer; first += 4u) {
    let output = min(first + vec4u(0u, 1u, 2u, 3u), vec4u(outer - 1u));
    let rows = member + output * row;
    let biases = member + outer * row + output * pitch;
    var sum = vec4f(weights[biases.x], weights[biases.y], weights[biases.z], weights[biases.w]);
    for (var word = 0u; word < OBSERVATION_WORDS; word++) {
      for (var bits = observation[word]; bits != 0u; bits &= bits - 1u) {
        let at = rows + (32u * word + firstTrailingBit(bits)) * pitch;
        sum += vec4f(weights[at.x], weights[at.y], weights[at.z], weights[at.w]);
      }
    }
    sums[output.x] = sum.x;
    sums[output.y] = sum.y;
    sums[output.z] = sum.z;
    sums[output.w] = sum.w;
  }
  return sums;
}
