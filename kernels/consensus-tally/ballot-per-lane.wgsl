// Tally of a ballot by one invocation, vote by vote; what it counts stands in storage.

struct Shape { ballots: u32, voters: u32, options: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> votes: array<u32>; // abstentions read as very large options
@group(0) @binding(2) var<storage, read> electorate: array<u32>; // a bit a voter
@group(0) @binding(3) var<storage, read> percent: array<u32>;
@group(0) @binding(4) var<storage, read_write> tally: array<u32>;
@group(0) @binding(5) var<storage, read_write> quorum: array<u32>;

override lanes: u32 = 16;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.ballots) {
    return;
  }
  let first = at.x * shape.options;
  for (var option = 0u; option < shape.options; option++) {
    tally[first + option] = 0u;
  }
  let words = (shape.voters + 31u) / 32u;
  var eligible = 0u;
  var counted = 0u;
  for (var voter = 0u; voter < shape.voters; voter += 32u) {
    let word = electorate[at.x * words + voter / 32u];
    let length = min(32u, shape.voters - voter);
    for (var bit = 0u; bit < length; bit++) {
      let isEligible = (word >> bit) & 1u;
      let option = votes[at.x * shape.voters + voter + bit];
      eligible += isEligible;
      if (isEligible == 1u && option < shape.options) {
        counted++;
        tally[first + option]++;
      }
    }
  }
  quorum[at.x] = u32(counted * 100u >= percent[at.x] * eligible);
}
