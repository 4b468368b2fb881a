// Tally of a ballot by a workgroup: the lanes stride over the voters and count in workgroup memory.

struct Shape { ballots: u32, voters: u32, options: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> votes: array<u32>; // abstentions read as very large options
@group(0) @binding(2) var<storage, read> electorate: array<u32>; // a bit a voter
@group(0) @binding(3) var<storage, read> percent: array<u32>;
@group(0) @binding(4) var<storage, read_write> tally: array<u32>;
@group(0) @binding(5) var<storage, read_write> quorum: array<u32>;

override lanes: u32 = 64;
override options: u32;

var<workgroup> own: array<atomic<u32>, options>;
var<workgroup> eligible: atomic<u32>;
var<workgroup> counted: atomic<u32>;

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let words = (shape.voters + 31u) / 32u;
  var eligibleHere = 0u;
  var countedHere = 0u;
  for (var voter = lane.x; voter < shape.voters; voter += lanes) {
    let isEligible = (electorate[group.x * words + voter / 32u] >> (voter % 32u)) & 1u;
    let option = votes[group.x * shape.voters + voter];
    eligibleHere += isEligible;
    if (isEligible == 1u && option < options) {
      countedHere++;
      atomicAdd(&own[option], 1u);
    }
  }
  atomicAdd(&eligible, eligibleHere);
  atomicAdd(&counted, countedHere);
  workgroupBarrier();
  for (var option = lane.x; option < options; option += lanes) {
    tally[group.x * options + option] = atomicLoad(&own[option]);
  }
  if (lane.x == 0u) {
    quorum[group.x] = u32(atomicLoad(&counted) * 100u >= percent[group.x] * atomicLoad(&eligible));
  }
}
