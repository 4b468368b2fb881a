// The leader of an election by one invocation: the highest score, and of equal ones the first.

struct Shape { elections: u32, candidates: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> scores: array<i32>;
@group(0) @binding(2) var<storage, read_write> leader: array<u32>;

override lanes: u32 = 16;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var election = at.x; election < shape.elections; election += groups.x * lanes) {
    let first = election * shape.candidates;
    var best = 0u;
    var bestScore = scores[first];
    for (var candidate = 1u; candidate < shape.candidates; candidate++) {
      let score = scores[first + candidate];
      if (score > bestScore) {
        best = candidate;
        bestScore = score;
      }
    }
    leader[election] = best;
  }
}
