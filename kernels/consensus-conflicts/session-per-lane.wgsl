// Conflicts of a session by one invocation: every proposal is compared with the first of its round and with the
// first of its proposer, whose numbers stand in storage (0 for none, else the number of the proposal and 1).

struct Shape { sessions: u32, proposals: u32, rounds: u32, proposers: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> proposals: array<vec4<u32>>; // round, value, proposer, id
@group(0) @binding(2) var<storage, read_write> first: array<u32>;
@group(0) @binding(3) var<storage, read_write> roundConflict: array<u32>;
@group(0) @binding(4) var<storage, read_write> proposerConflict: array<u32>;

override lanes: u32 = 16;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.sessions) {
    return;
  }
  let roundBase = at.x * shape.rounds;
  let proposerBase = at.x * shape.proposers;
  let firstOfRound = at.x * (shape.rounds + shape.proposers);
  let firstOfProposer = firstOfRound + shape.rounds;
  for (var round = 0u; round < shape.rounds; round++) {
    first[firstOfRound + round] = 0u;
    roundConflict[roundBase + round] = 0u;
  }
  for (var proposer = 0u; proposer < shape.proposers; proposer++) {
    first[firstOfProposer + proposer] = 0u;
    proposerConflict[proposerBase + proposer] = 0u;
  }

  let start = at.x * shape.proposals;
  for (var i = start; i < start + shape.proposals; i++) {
    let proposal = proposals[i];
    if (proposal.x < shape.rounds) {
      let known = first[firstOfRound + proposal.x];
      if (known == 0u) {
        first[firstOfRound + proposal.x] = i + 1u;
      } else if (proposals[known - 1u].y != proposal.y) {
        roundConflict[roundBase + proposal.x] = 1u;
      }
    }
    if (proposal.z < shape.proposers) {
      let known = first[firstOfProposer + proposal.z];
      if (known == 0u) {
        first[firstOfProposer + proposal.z] = i + 1u;
      } else if (proposals[known - 1u].w != proposal.w) {
        proposerConflict[proposerBase + proposal.z] = 1u;
      }
    }
  }
}
