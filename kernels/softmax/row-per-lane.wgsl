// Softmax with a whole row per invocation: nobody waits. One walk finds the maximum and the sum of the exponentials,
// which is scaled whenever the maximum grows (Milakov and Gimelshein, 2018); a second one writes.

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
  let length = (shape.columns + 3u) / 4u;
  let row = at.x * length;
  let last = row + length - 1u;
  // The last vector of a row that is no multiple of four ends in padding, which must not count.
  let kept = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns - 4u * (length - 1u));

  var highs = select(LOWEST, x[last], kept);
  var sums = select(vec4<f32>(), vec4<f32>(1.0), kept);
  var i = row;
  // Four at a time, so that the sums are scaled once for four vectors.
  for (; i + 3u < last; i += 4u) {
    let a = x[i];
    let b = x[i + 1u];
    let c = x[i + 2u];
    let d = x[i + 3u];
    let next = max(highs, max(max(a, b), max(c, d)));
    sums = sums * exp(highs - next) + ((exp(a - next) + exp(b - next)) + (exp(c - next) + exp(d - next)));
    highs = next;
  }
  for (; i < last; i++) {
    let next = max(highs, x[i]);
    sums = sums * exp(highs - next) + exp(x[i] - next);
    highs = next;
  }

  let high = max(max(highs.x, highs.y), max(highs.z, highs.w));
  sums *= exp(highs - high);
  let scale = 1.0 / ((sums.x + sums.y) + (sums.z + sums.w));
  for (i = row; i <= last; i++) {
    y[i] = exp(x[i] - high) * scale;
  }
}
