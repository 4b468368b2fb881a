// Sums of utility · noise over members, for every parameter. The order of additions follows from the number of members
// alone: `sum_spans` walks the draws of each span, `sum_partials` the spans.

struct Recombination {
  /// Members, or pairs where noise is mirrored.
  draws: u32,
  draws_of_span: u32,
  spans: u32,
  parameters: u32,
  first_block: u32,
  seed: u32,
  generation: u32,
}

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Recombination;
/// Of each draw: what multiplies its noise, and its square.
@group(0) @binding(1) var<storage, read> utilities: array<vec2f>;
/// Parameter by parameter, one for each span.
@group(0) @binding(2) var<storage, read_write> partials: array<vec2f>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec2f>;

@compute @workgroup_size(lanes)
fn sum_spans(@builtin(global_invocation_id) id: vec3u) {
  let span = id.x;
  if (span >= plan.spans) {
    return;
  }
  let block = plan.first_block + id.y;
  var sum = vec4f();
  var square_sum = vec4f();
  let end = min((span + 1u) * plan.draws_of_span, plan.draws);
  for (var drawn = span * plan.draws_of_span; drawn < end; drawn++) {
    let noise = draw_noise(vec2u(plan.seed, NOISE_STREAM), plan.generation, drawn, block);
    sum += utilities[drawn].x * noise;
    square_sum += utilities[drawn].y * noise * noise;
  }
  for (var index = 0u; index < 4u && 4u * block + index < plan.parameters; index++) {
    partials[(4u * block + index) * plan.spans + span] = vec2f(sum[index], square_sum[index]);
  }
}

@compute @workgroup_size(lanes)
fn sum_partials(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let parameter = id.x + id.y * groups.x * lanes;
  if (parameter >= plan.parameters) {
    return;
  }
  var sum = vec2f();
  for (var span = 0u; span < plan.spans; span++) {
    sum += partials[parameter * plan.spans + span];
  }
  sums[parameter] = sum;
}
