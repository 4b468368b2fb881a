// Softmax with a whole row per invocation: nobody waits, and y holds the exponentials in between.

struct Shape { rows: u32, columns: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈columns⌉₄

override lanes: u32 = 8;

const LOWEST = vec4<f32>(-3.4028234e38);

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.rows) {
    return;
  }
  let whole = shape.columns / 4u;
  let length = (shape.columns + 3u) / 4u;
  let row = at.x * length;
  let last = row + length - 1u;
  // The last vector of a row that is no multiple of four ends in padding, which must not count.
  let kept = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns - 4u * (length - 1u));

  var highs = select(LOWEST, x[last], kept);
  for (var i = row; i < row + whole; i++) {
    highs = max(highs, x[i]);
  }
  let high = max(max(highs.x, highs.y), max(highs.z, highs.w));

  var sums = vec4<f32>();
  for (var i = row; i < row + whole; i++) {
    let power = exp(x[i] - high);
    y[i] = power;
    sums += power;
  }
  if (whole < length) {
    let power = select(vec4<f32>(), exp(x[last] - high), kept);
    y[last] = power;
    sums += power;
  }
  let scale = 1.0 / ((sums.x + sums.y) + (sums.z + sums.w));
  for (var i = row; i <= last; i++) {
    y[i] *= scale;
  }
}
