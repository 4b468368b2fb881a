// Conflicts of a session by a workgroup: the lowest and the highest value of each round, and id of each proposer,
// are found by atomics in workgroup memory. Where they differ there is a conflict, whatever the order.

struct Shape { sessions: u32, proposals: u32, rounds: u32, proposers: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> proposals: array<vec4<u32>>; // round, value, proposer, id
@group(0) @binding(3) var<storage, read_write> roundConflict: array<u32>;
@group(0) @binding(4) var<storage, read_write> proposerConflict: array<u32>;

override lanes: u32 = 64;
override rounds: u32;
override proposers: u32;

// Workgroup memory begins as zeros: the highest, and the complement of the lowest.
struct Range { highest: atomic<u32>, lowestInverted: atomic<u32> }

var<workgroup> values: array<Range, rounds>;
var<workgroup> ids: array<Range, proposers>;

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let start = group.x * shape.proposals;
  for (var i = start + lane.x; i < start + shape.proposals; i += lanes) {
    let proposal = proposals[i];
    if (proposal.x < rounds) {
      atomicMax(&values[proposal.x].highest, proposal.y);
      atomicMax(&values[proposal.x].lowestInverted, ~proposal.y);
    }
    if (proposal.z < proposers) {
      atomicMax(&ids[proposal.z].highest, proposal.w);
      atomicMax(&ids[proposal.z].lowestInverted, ~proposal.w);
    }
  }
  workgroupBarrier();
  for (var round = lane.x; round < rounds; round += lanes) {
    let highest = atomicLoad(&values[round].highest);
    let lowest = ~atomicLoad(&values[round].lowestInverted);
    // Of a round without proposals, the lowest is above the highest.
    roundConflict[group.x * rounds + round] = u32(lowest < highest);
  }
  for (var proposer = lane.x; proposer < proposers; proposer += lanes) {
    let highest = atomicLoad(&ids[proposer].highest);
    let lowest = ~atomicLoad(&ids[proposer].lowestInverted);
    proposerConflict[group.x * proposers + proposer] = u32(lowest < highest);
  }
}
