// Softmax with one row per group: the lanes stride along it and meet twice in workgroup memory. Each finds the maximum
// and the sum of the exponentials of its share in one walk (Milakov and Gimelshein, 2018).
//
// ../row-per-group/meet-in-workgroup.wgsl follows.

struct Shape { rows: u32, columns: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈columns⌉₄

override lanes: u32 = 64;

const LOWEST = vec4<f32>(-3.4028234e38);

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.columns + 3u) / 4u;
  let row = group.x * length;

  var highs = LOWEST;
  var sums = vec4<f32>();
  var i = lane.x;
  // Four at a time, so that the sums are scaled once for four vectors; none of them is the row's last.
  for (; i + 3u * lanes + 1u < length; i += 4u * lanes) {
    let a = x[row + i];
    let b = x[row + i + lanes];
    let c = x[row + i + 2u * lanes];
    let d = x[row + i + 3u * lanes];
    let next = max(highs, max(max(a, b), max(c, d)));
    sums = sums * exp(highs - next) + ((exp(a - next) + exp(b - next)) + (exp(c - next) + exp(d - next)));
    highs = next;
  }
  for (; i < length; i += lanes) {
    // Padding at the row's end must not count.
    let kept = 4u * i + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns);
    let value = x[row + i];
    let next = max(highs, select(LOWEST, value, kept));
    sums = sums * exp(highs - next) + select(vec4<f32>(), exp(value - next), kept);
    highs = next;
  }

  let high = largest_of_lanes(lane.x, max(max(highs.x, highs.y), max(highs.z, highs.w)));
  sums *= exp(highs - high);
  let scale = 1.0 / sum_of_lanes(lane.x, (sums.x + sums.y) + (sums.z + sums.w));
  for (i = lane.x; i < length; i += lanes) {
    y[row + i] = exp(x[row + i] - high) * scale;
  }
}
