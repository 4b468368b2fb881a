// Rows of members to the layout that lanes of neighbouring members read, parameter p of member m at p · members + m, and
// back. An invocation moves 16 numbers of one member: a line of memory, as machines have them.

struct Rows {
  members: u32,
  parameters: u32,
  /// Of the rows at hand: where they stand among the members, and how many they are.
  first: u32,
  count: u32,
  first_piece: u32,
}

const PIECE = 16u;

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Rows;
@group(0) @binding(1) var<storage, read_write> rows: array<f32>;
@group(0) @binding(2) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(lanes)
fn interleave(@builtin(global_invocation_id) id: vec3u) {
  let piece = plan.first_piece + id.y;
  let end = min((piece + 1u) * PIECE, plan.parameters);
  for (var parameter = piece * PIECE; parameter < end && id.x < plan.count; parameter++) {
    weights[parameter * plan.members + plan.first + id.x] = rows[id.x * plan.parameters + parameter];
  }
}

@compute @workgroup_size(lanes)
fn separate(@builtin(global_invocation_id) id: vec3u) {
  let piece = plan.first_piece + id.y;
  let end = min((piece + 1u) * PIECE, plan.parameters);
  for (var parameter = piece * PIECE; parameter < end && id.x < plan.count; parameter++) {
    rows[id.x * plan.parameters + parameter] = weights[parameter * plan.members + plan.first + id.x];
  }
}
