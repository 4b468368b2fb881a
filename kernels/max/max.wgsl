// Maximum in two dispatches: each group finds that of its share, then one group finds that of theirs.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;
@group(0) @binding(3) var<storage, read_write> high: array<f32>;

override lanes: u32 = 64;
override groups: u32 = 16;

const LOWEST = -3.4028234e38;

var<workgroup> highs: array<f32, lanes>;

fn compareLanes(lane: u32, value: f32) -> f32 {
  highs[lane] = value;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      highs[lane] = max(highs[lane], highs[lane + half]);
    }
  }
  return highs[0];
}

@compute @workgroup_size(lanes)
fn findShares(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let whole = shape.n / 4u;
  var found = vec4<f32>(LOWEST);
  for (var i = at.x; i < whole; i += groups * lanes) {
    found = max(found, values[i]);
  }
  // The last vector may end in padding, which must not count.
  if (at.x == 0u && 4u * whole < shape.n) {
    let kept = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.n - 4u * whole);
    found = max(found, select(vec4<f32>(LOWEST), values[whole], kept));
  }
  let share = compareLanes(lane.x, max(max(found.x, found.y), max(found.z, found.w)));
  if (lane.x == 0u) {
    partials[at.x / lanes] = share;
  }
}

@compute @workgroup_size(lanes)
fn findHigh(@builtin(local_invocation_id) lane: vec3<u32>) {
  var found = LOWEST;
  for (var i = lane.x; i < groups; i += lanes) {
    found = max(found, partials[i]);
  }
  let all = compareLanes(lane.x, found);
  if (lane.x == 0u) {
    high[0] = all;
  }
}
