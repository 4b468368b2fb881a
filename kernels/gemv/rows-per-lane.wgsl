// y = A·x with four whole rows per invocation, so that each load of x feeds four rows and nobody waits.

struct Shape { m: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>; // ⌈k⌉₄
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>; // ⌈m⌉₄

override lanes: u32 = 16;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let depth = (shape.k + 3u) / 4u;
  if (at.x >= (shape.m + 3u) / 4u) {
    return;
  }
  // What hangs over the edge computes with the last row; its sum lands in the padding.
  let rows = min(4u * at.x + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(shape.m - 1u)) * depth;
  var sum0 = vec4<f32>();
  var sum1 = vec4<f32>();
  var sum2 = vec4<f32>();
  var sum3 = vec4<f32>();
  for (var i = 0u; i < depth; i++) {
    let factor = x[i];
    sum0 = fma(a[rows.x + i], factor, sum0);
    sum1 = fma(a[rows.y + i], factor, sum1);
    sum2 = fma(a[rows.z + i], factor, sum2);
    sum3 = fma(a[rows.w + i], factor, sum3);
  }
  let sums = transpose(mat4x4<f32>(sum0, sum1, sum2, sum3));
  y[at.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
