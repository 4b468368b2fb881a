// Softmax with many invocations a row and no barrier, for few long rows: one pass finds the maximum and the sum of the
// exponentials of each share (Milakov and Gimelshein, 2018), the next one puts a row's shares together and writes.
// Neighbours stand side by side in the row.

struct Shape { rows: u32, columns: u32 }
struct Share { high: f32, sum: f32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(3) var<storage, read_write> parts: array<Share>; // rows × shares

override lanes: u32 = 16;
override shareColumns: u32 = 1024; // of a row, at least

const LOWEST = vec4<f32>(-3.4028234e38);

@compute @workgroup_size(lanes)
fn summarise(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = (shape.columns + 3u) / 4u;
  let shares = max(1u, shape.columns / shareColumns);
  for (var item = at.x; item < shape.rows * shares; item += groups.x * lanes) {
    let row = item / shares * length;
    var highs = LOWEST;
    var sums = vec4<f32>();
    var i = item % shares;
    // Four at a time, so that the sums are scaled once for four vectors; none of them is the row's last.
    for (; i + 3u * shares + 1u < length; i += 4u * shares) {
      let a = x[row + i];
      let b = x[row + i + shares];
      let c = x[row + i + 2u * shares];
      let d = x[row + i + 3u * shares];
      let next = max(highs, max(max(a, b), max(c, d)));
      sums = sums * exp(highs - next) + ((exp(a - next) + exp(b - next)) + (exp(c - next) + exp(d - next)));
      highs = next;
    }
    for (; i < length; i += shares) {
      // Padding at the row's end must not count.
      let kept = 4u * i + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns);
      let value = x[row + i];
      let next = max(highs, select(LOWEST, value, kept));
      sums = sums * exp(highs - next) + select(vec4<f32>(), exp(value - next), kept);
      highs = next;
    }
    let high = max(max(highs.x, highs.y), max(highs.z, highs.w));
    sums *= exp(highs - high);
    parts[item] = Share(high, (sums.x + sums.y) + (sums.z + sums.w));
  }
}

@compute @workgroup_size(lanes)
fn scale(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = (shape.columns + 3u) / 4u;
  let shares = max(1u, shape.columns / shareColumns);
  for (var item = at.x; item < shape.rows * shares; item += groups.x * lanes) {
    let first = item / shares * shares;
    var total = Share(LOWEST.x, 0.0);
    for (var share = first; share < first + shares; share++) {
      let part = parts[share];
      let high = max(total.high, part.high);
      total = Share(high, total.sum * exp(total.high - high) + part.sum * exp(part.high - high));
    }
    let factor = 1.0 / total.sum;
    let row = item / shares * length;
    var i = item % shares;
    for (; i + 3u * shares < length; i += 4u * shares) {
      y[row + i] = exp(x[row + i] - total.high) * factor;
      y[row + i + shares] = exp(x[row + i + shares] - total.high) * factor;
      y[row + i + 2u * shares] = exp(x[row + i + 2u * shares] - total.high) * factor;
      y[row + i + 3u * shares] = exp(x[row + i + 3u * shares] - total.high) * factor;
    }
    for (; i < length; i += shares) {
      y[row + i] = exp(x[row + i] - total.high) * factor;
    }
  }
}
