// Softmax with one row per group: the lanes stride along it and meet twice in workgroup memory.

struct Shape { rows: u32, columns: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈columns⌉₄
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈columns⌉₄

override lanes: u32 = 64;

const LOWEST = vec4<f32>(-3.4028234e38);

var<workgroup> shares: array<f32, lanes>;

fn keep(i: u32) -> vec4<bool> {
  return 4u * i + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.columns);
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let length = (shape.columns + 3u) / 4u;
  let row = group.x * length;

  var highs = LOWEST;
  for (var i = lane.x; i < length; i += lanes) {
    highs = max(highs, select(LOWEST, x[row + i], keep(i)));
  }
  shares[lane.x] = max(max(highs.x, highs.y), max(highs.z, highs.w));
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane.x < half) {
      shares[lane.x] = max(shares[lane.x], shares[lane.x + half]);
    }
  }
  workgroupBarrier();
  let high = shares[0];
  workgroupBarrier();

  var sums = vec4<f32>();
  for (var i = lane.x; i < length; i += lanes) {
    let power = select(vec4<f32>(), exp(x[row + i] - high), keep(i));
    y[row + i] = power;
    sums += power;
  }
  shares[lane.x] = (sums.x + sums.y) + (sums.z + sums.w);
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane.x < half) {
      shares[lane.x] += shares[lane.x + half];
    }
  }
  workgroupBarrier();
  let scale = 1.0 / shares[0];
  for (var i = lane.x; i < length; i += lanes) {
    y[row + i] *= scale;
  }
}
