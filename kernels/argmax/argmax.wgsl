// Index of the maximum in two dispatches: each group finds that of its share, then one group finds that of
// theirs. Of equals the lowest index wins, whatever the axes are.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> highs: array<f32>;
@group(0) @binding(3) var<storage, read_write> indexes: array<u32>;
@group(0) @binding(4) var<storage, read_write> index: array<u32>;
@group(0) @binding(5) var<storage, read_write> high: array<f32>;

override lanes: u32 = 64;
override groups: u32 = 16;

const LOWEST = -3.4028234e38;
const NOWHERE = 0xffffffffu;

struct Best { value: f32, at: u32 }

var<workgroup> bests: array<Best, lanes>;

fn chooseBest(a: Best, b: Best) -> Best {
  if (b.value > a.value || (b.value == a.value && b.at < a.at)) {
    return b;
  }
  return a;
}

fn compareLanes(lane: u32, own: Best) -> Best {
  bests[lane] = own;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      bests[lane] = chooseBest(bests[lane], bests[lane + half]);
    }
  }
  return bests[0];
}

@compute @workgroup_size(lanes)
fn findShares(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.n + 3u) / 4u;
  var found = vec4<f32>(LOWEST);
  var places = vec4<u32>(NOWHERE);
  for (var i = at.x; i < length; i += groups * lanes) {
    let value = values[i];
    let place = 4u * i + vec4<u32>(0u, 1u, 2u, 3u);
    let better = ((value > found) | (places == vec4<u32>(NOWHERE))) & (place < vec4<u32>(shape.n));
    found = select(found, value, better);
    places = select(places, place, better);
  }
  let own = chooseBest(
    chooseBest(Best(found.x, places.x), Best(found.y, places.y)),
    chooseBest(Best(found.z, places.z), Best(found.w, places.w)),
  );
  let share = compareLanes(lane.x, own);
  if (lane.x == 0u) {
    highs[at.x / lanes] = share.value;
    indexes[at.x / lanes] = share.at;
  }
}

@compute @workgroup_size(lanes)
fn findBest(@builtin(local_invocation_id) lane: vec3<u32>) {
  var own = Best(LOWEST, NOWHERE);
  for (var i = lane.x; i < groups; i += lanes) {
    own = chooseBest(own, Best(highs[i], indexes[i]));
  }
  let all = compareLanes(lane.x, own);
  if (lane.x == 0u) {
    index[0] = all.at;
    high[0] = all.value;
  }
}
