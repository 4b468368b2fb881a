// y = A·x with one row per group: the lanes stride along it and sum up in workgroup memory.

struct Shape { m: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>; // ⌈k⌉₄
@group(0) @binding(3) var<storage, read_write> y: array<f32>; // ⌈m⌉₄

override lanes: u32 = 64;

var<workgroup> sums: array<f32, lanes>;

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let depth = (shape.k + 3u) / 4u;
  let row = group.x * depth;
  var sum = vec4<f32>();
  for (var i = lane.x; i < depth; i += lanes) {
    sum = fma(a[row + i], x[i], sum);
  }
  sums[lane.x] = (sum.x + sum.y) + (sum.z + sum.w);
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane.x < half) {
      sums[lane.x] += sums[lane.x + half];
    }
  }
  if (lane.x == 0u) {
    y[group.x] = sums[0];
  }
}
