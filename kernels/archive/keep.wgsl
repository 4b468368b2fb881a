// Genomes of members that are elites now, to their slots: a row each, for a member's children read all of it.

struct Keeping {
  moves: u32,
  parameters: u32,
  /// Of the part of the population at hand.
  members: u32,
}

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Keeping;
/// Member of this part, and slot.
@group(0) @binding(1) var<storage, read> moves: array<vec2u>;
/// Parameter p of member m at p · members + m.
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> genomes: array<f32>;

@compute @workgroup_size(lanes)
fn keep(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let parameter = id.x;
  if (parameter >= plan.parameters) {
    return;
  }
  for (var index = id.y; index < plan.moves; index += groups.y) {
    let from_to = moves[index];
    genomes[from_to.y * plan.parameters + parameter] = weights[parameter * plan.members + from_to.x];
  }
}
