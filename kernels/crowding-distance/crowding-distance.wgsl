// Crowding distance of each member in its front (Deb, Pratap, Agarwal and Meyarivan, "NSGA-II", IEEE Trans. Evol.
// Comput. 2002): for each objective a walk over the population finds the two neighbours, so that nothing is sorted.

struct Shape { populations: u32, members: u32, objectives: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> objectives: array<f32>;
@group(0) @binding(2) var<storage, read> rank: array<u32>;
@group(0) @binding(3) var<storage, read_write> distance: array<f32>;

override lanes: u32 = 16;

const LARGEST = 0x1.fffffep+127f;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.members) {
    return;
  }
  let first = at.y * shape.members;
  let member = first + at.x;
  let ownRank = rank[member];
  var sum = 0.0;
  var isEnd = false;
  for (var i = 0u; i < shape.objectives; i++) {
    let own = objectives[member * shape.objectives + i];
    var lowest = own;
    var highest = own;
    var below = -LARGEST;
    var above = LARGEST;
    var hasBelow = false;
    var hasAbove = false;
    for (var other = first; other < first + shape.members; other++) {
      if (rank[other] != ownRank || other == member) {
        continue;
      }
      let value = objectives[other * shape.objectives + i];
      lowest = min(lowest, value);
      highest = max(highest, value);
      // Of equals, the one of lower index is below.
      if (value < own || (value == own && other < member)) {
        below = max(below, value);
        hasBelow = true;
      } else {
        above = min(above, value);
        hasAbove = true;
      }
    }
    isEnd |= !(hasBelow && hasAbove);
    if (hasBelow && hasAbove && highest > lowest) {
      sum += (above - below) / (highest - lowest);
    }
  }
  distance[member] = select(sum, LARGEST, isEnd);
}
