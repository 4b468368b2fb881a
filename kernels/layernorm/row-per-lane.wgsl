// Layer normalisation with a whole row per invocation: three walks along it, and nobody waits.

struct Shape { rows: u32, columns: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(2) var<storage, read> scale: array<vec4<f32>>; // ⌈columns⌉₄
@group(0) @binding(3) var<storage, read> shift: array<vec4<f32>>; // ⌈columns⌉₄
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈columns⌉₄

override lanes: u32 = 8;
override epsilon: f32;

fn sumParts(parts: vec4<f32>) -> f32 {
  return (parts.x + parts.y) + (parts.z + parts.w);
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.rows) {
    return;
  }
  let whole = shape.columns / 4u;
  let length = (shape.columns + 3u) / 4u;
  let row = at.x * length;
  let count = f32(shape.columns);

  // Padding is zero and adds nothing here.
  var sums = vec4<f32>();
  for (var i = 0u; i < length; i++) {
    sums += x[row + i];
  }
  let mean = sumParts(sums) / count;

  var squares = vec4<f32>();
  for (var i = 0u; i < whole; i++) {
    let distance = x[row + i] - mean;
    squares = fma(distance, distance, squares);
  }
  if (whole < length) {
    let kept = 4u * whole + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns);
    let distance = select(vec4<f32>(), x[row + whole] - mean, kept);
    squares = fma(distance, distance, squares);
  }
  let factor = inverseSqrt(sumParts(squares) / count + epsilon);
  for (var i = 0u; i < length; i++) {
    y[row + i] = fma((x[row + i] - mean) * factor, scale[i], shift[i]);
  }
}
