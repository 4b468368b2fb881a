// Layer normalisation with one row per group: the lanes stride along it and meet twice in workgroup memory.
//
// ../row-per-group/meet-in-workgroup.wgsl follows.

struct Shape { rows: u32, columns: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(2) var<storage, read> scale: array<vec4<f32>>; // ⌈columns⌉₄
@group(0) @binding(3) var<storage, read> shift: array<vec4<f32>>; // ⌈columns⌉₄
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈columns⌉₄

override lanes: u32 = 64;
override epsilon: f32;

fn sumLanes(lane: u32, parts: vec4<f32>) -> f32 {
  return sum_of_lanes(lane, (parts.x + parts.y) + (parts.z + parts.w));
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.columns + 3u) / 4u;
  let row = group.x * length;
  let count = f32(shape.columns);

  // Padding is zero and adds nothing here.
  var parts = vec4<f32>();
  for (var i = lane.x; i < length; i += lanes) {
    parts += x[row + i];
  }
  let mean = sumLanes(lane.x, parts) / count;

  var squares = vec4<f32>();
  for (var i = lane.x; i < length; i += lanes) {
    let kept = 4u * i + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns);
    let distance = select(vec4<f32>(), x[row + i] - mean, kept);
    squares = fma(distance, distance, squares);
  }
  let factor = inverseSqrt(sumLanes(lane.x, squares) / count + epsilon);
  for (var i = lane.x; i < length; i += lanes) {
    y[row + i] = fma((x[row + i] - mean) * factor, scale[i], shift[i]);
  }
}
