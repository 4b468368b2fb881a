// Fronts of non-dominated members (Deb, Pratap, Agarwal and Meyarivan, "NSGA-II", IEEE Trans. Evol. Comput. 2002):
// for each member the number of those that dominate it is counted; then one group a population takes front after
// front off, and what a front dominated is dominated by so many fewer.

struct Shape { populations: u32, members: u32, objectives: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> objectives: array<f32>; // larger is better
@group(0) @binding(2) var<storage, read_write> dominators: array<u32>;
@group(0) @binding(3) var<storage, read_write> front: array<u32>;
@group(0) @binding(4) var<storage, read_write> rank: array<u32>;

override lanes: u32 = 32;

const UNRANKED = 0xffffffffu;

var<workgroup> length: atomic<u32>;

// Nowhere worse and somewhere better; both are indexes of members over all populations.
fn dominates(a: u32, b: u32) -> bool {
  var isBetter = false;
  for (var i = 0u; i < shape.objectives; i++) {
    let ours = objectives[a * shape.objectives + i];
    let theirs = objectives[b * shape.objectives + i];
    if (ours < theirs) {
      return false;
    }
    isBetter |= ours > theirs;
  }
  return isBetter;
}

@compute @workgroup_size(lanes)
fn countDominators(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.members) {
    return;
  }
  let first = at.y * shape.members;
  var count = 0u;
  for (var other = first; other < first + shape.members; other++) {
    count += u32(dominates(other, first + at.x));
  }
  dominators[first + at.x] = count;
  rank[first + at.x] = UNRANKED;
}

@compute @workgroup_size(lanes)
fn peel(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let first = group.x * shape.members;
  let end = first + shape.members;
  var ranked = 0u;
  for (var current = 0u; ranked < shape.members; current++) {
    if (lane.x == 0u) {
      atomicStore(&length, 0u);
    }
    workgroupBarrier();
    for (var i = first + lane.x; i < end; i += lanes) {
      if (rank[i] == UNRANKED && dominators[i] == 0u) {
        rank[i] = current;
        front[first + atomicAdd(&length, 1u)] = i;
      }
    }
    storageBarrier();
    let taken = workgroupUniformLoad(&length);
    for (var i = first + lane.x; i < end; i += lanes) {
      if (rank[i] != UNRANKED) {
        continue;
      }
      var fewer = 0u;
      for (var j = first; j < first + taken; j++) {
        fewer += u32(dominates(front[j], i));
      }
      dominators[i] -= fewer;
    }
    storageBarrier();
    ranked += max(taken, 1u);
  }
}
