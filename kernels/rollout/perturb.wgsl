// Members become mean + sigma ⊙ noise: one invocation for four parameters of one draw, which a mirrored pair shares.

struct Perturbation {
  /// Of this part of the population.
  members: u32,
  first_member: u32,
  parameters: u32,
  first_block: u32,
  seed: u32,
  generation: u32,
  mirrored: u32,
}

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Perturbation;
@group(0) @binding(1) var<storage, read> means: array<f32>;
@group(0) @binding(2) var<storage, read> sigmas: array<f32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(lanes)
fn perturb(@builtin(global_invocation_id) id: vec3u) {
  // Parts begin at even members, so that pairs stay together.
  let each = 1u + plan.mirrored;
  let member = id.x * each;
  if (member >= plan.members) {
    return;
  }
  let block = plan.first_block + id.y;
  let noise = draw_noise(vec2u(plan.seed, NOISE_STREAM), plan.generation, plan.first_member / each + id.x, block);
  for (var index = 0u; index < 4u; index++) {
    let parameter = 4u * block + index;
    if (parameter >= plan.parameters) {
      return;
    }
    let at = parameter * plan.members + member;
    let change = sigmas[parameter] * noise[index];
    weights[at] = means[parameter] + change;
    if (plan.mirrored == 1u && member + 1u < plan.members) {
      weights[at + 1u] = means[parameter] - change;
    }
  }
}
