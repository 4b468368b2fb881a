// Scalar product: each group multiplies and sums up its share into `partials`, then one group sums those. Which
// element meets which is fixed by the axes, so equal inputs give equal bits. `writeProducts` and `sumProducts`
// do the same in two steps.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> products: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> partials: array<f32>;
@group(0) @binding(5) var<storage, read_write> total: array<f32>;

override lanes: u32 = 64;
override groups: u32 = 16;

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

fn writePartial(at: u32, lane: u32, sum: vec4<f32>) {
  let share = sumLanes(lane, (sum.x + sum.y) + (sum.z + sum.w));
  if (lane == 0u) {
    partials[at / lanes] = share;
  }
}

@compute @workgroup_size(lanes)
fn sumShares(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.n + 3u) / 4u;
  var sum = vec4<f32>();
  for (var i = at.x; i < length; i += groups * lanes) {
    sum = fma(a[i], b[i], sum);
  }
  writePartial(at.x, lane.x, sum);
}

@compute @workgroup_size(lanes)
fn writeProducts(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) count: vec3<u32>) {
  let length = (shape.n + 3u) / 4u;
  for (var i = at.x; i < length; i += count.x * lanes) {
    products[i] = a[i] * b[i];
  }
}

@compute @workgroup_size(lanes)
fn sumProducts(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.n + 3u) / 4u;
  var sum = vec4<f32>();
  for (var i = at.x; i < length; i += groups * lanes) {
    sum += products[i];
  }
  writePartial(at.x, lane.x, sum);
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
