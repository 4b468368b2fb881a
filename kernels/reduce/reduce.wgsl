// Sum in two dispatches: each group sums its share into `partials`, then one group sums those.
// Which element meets which is fixed by the axes, so equal inputs give equal bits.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;
@group(0) @binding(3) var<storage, read_write> total: array<f32>;

override lanes: u32 = 64;
override groups: u32 = 64;

var<workgroup> sums: array<f32, lanes>;

fn sumLanes(lane: u32, value: f32) -> f32 {
  sums[lane] = value;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      sums[lane] += sums[lane + half];
    }
  }
  return sums[0];
}

@compute @workgroup_size(lanes)
fn sumShares(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.n + 3u) / 4u;
  var sum = vec4<f32>();
  for (var i = group.x * lanes + lane.x; i < length; i += groups * lanes) {
    sum += values[i];
  }
  let share = sumLanes(lane.x, (sum.x + sum.y) + (sum.z + sum.w));
  if (lane.x == 0u) {
    partials[group.x] = share;
  }
}

@compute @workgroup_size(lanes)
fn sumPartials(@builtin(local_invocation_id) lane: vec3<u32>) {
  var sum = 0.0;
  for (var i = lane.x; i < groups; i += lanes) {
    sum += partials[i];
  }
  let all = sumLanes(lane.x, sum);
  if (lane.x == 0u) {
    total[0] = all;
  }
}
