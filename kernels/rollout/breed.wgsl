// The next generation out of this one: one invocation for four parameters of a child. The twin is breed.reference.ts.

struct Breeding {
  /// Children of this part of the population.
  members: u32,
  first_member: u32,
  /// Parents in this part: genes of others come by another dispatch.
  parent_members: u32,
  first_parent: u32,
  parameters: u32,
  first_block: u32,
  seed: u32,
  generation: u32,
  elites: u32,
  rate: f32,
  sigma: f32,
}

/// Draws of which parent a number comes from, and of whether it is mutated.
const BREEDING_STREAM = 5u;

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Breeding;
/// Two members for each one of the whole population.
@group(0) @binding(1) var<storage, read> parents: array<vec2u>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> children: array<f32>;

@compute @workgroup_size(lanes)
fn breed(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= plan.members) {
    return;
  }
  let member = plan.first_member + id.x;
  let block = plan.first_block + id.y;
  let pair = parents[member];
  let words = philox(vec4u(member, plan.generation, block, 0u), vec2u(plan.seed, BREEDING_STREAM));
  let is_elite = vec4<bool>(member < plan.elites);
  let is_second = ((words & vec4u(1u)) == vec4u(1u)) & !is_elite;
  let is_mutated = (to_uniform(words) < vec4f(plan.rate)) & !is_elite;
  var change = vec4f();
  if (any(is_mutated)) {
    let noise = draw_noise(vec2u(plan.seed, NOISE_STREAM), plan.generation, member, block);
    change = select(vec4f(), plan.sigma * noise, is_mutated);
  }
  let chosen = select(vec4u(pair.x), vec4u(pair.y), is_second);
  for (var index = 0u; index < 4u; index++) {
    let parameter = 4u * block + index;
    // A parent before this part is a large number, too.
    let parent = chosen[index] - plan.first_parent;
    if (parameter < plan.parameters && parent < plan.parent_members) {
      children[parameter * plan.members + id.x] = weights[parameter * plan.parent_members + parent] + change[index];
    }
  }
}
