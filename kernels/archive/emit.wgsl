// Children of random elites: x₁ + σ·N(0, I) + σ_line·(x₂ − x₁)·N(0, 1) within bounds (Vassiliades and Mouret, GECCO
// 2018). One invocation for some blocks of four parameters of one member. Stands behind philox.wgsl, arithmetic.wgsl and noise.wgsl;
// the twin is src/gpu-runner/archive/emit-rows.ts.

struct Emission {
  /// Of this part of the population.
  members: u32,
  first_member: u32,
  parameters: u32,
  filled: u32,
  seed: u32,
  generation: u32,
  sigma: f32,
  line_sigma: f32,
  low: f32,
  high: f32,
}

/// Draws of parents.
const PARENT_STREAM = 5u;

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Emission;
@group(0) @binding(1) var<storage, read> genomes: array<f32>;
@group(0) @binding(2) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(lanes)
fn emit(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  if (id.x >= plan.members) {
    return;
  }
  let member = plan.first_member + id.x;
  let words = philox(vec4u(member, plan.generation, 0u, 0u), vec2u(plan.seed, PARENT_STREAM));
  let one = multiply_high(words.x, plan.filled) * plan.parameters;
  let other = multiply_high(words.y, plan.filled) * plan.parameters;
  let key = vec2u(plan.seed, NOISE_STREAM);
  let blocks = (plan.parameters + 3u) / 4u;
  // The block of noise behind those of the parameters is for the step along the line.
  let along = plan.line_sigma * draw_noise(key, plan.generation, member, blocks).x;
  for (var block = id.y; block < blocks; block += groups.y) {
    let noise = draw_noise(key, plan.generation, member, block);
    for (var index = 0u; index < 4u && 4u * block + index < plan.parameters; index++) {
      let parameter = 4u * block + index;
      let start = genomes[one + parameter];
      let value = start + plan.sigma * noise[index] + along * (genomes[other + parameter] - start);
      weights[parameter * plan.members + id.x] = clamp(value, plan.low, plan.high);
    }
  }
}
