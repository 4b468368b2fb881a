// Y = X·Wᵀ with a row of Y for each group, whose lanes take four outputs at a time and meet once for the row's length.

struct Shape { rows: u32, inputs: u32, outputs: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈inputs⌉₄
@group(0) @binding(2) var<storage, read> w: array<vec4<f32>>; // ⌈outputs⌉₄ × ⌈inputs⌉₄
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈outputs⌉₄

override lanes: u32 = 64;

var<workgroup> shares: array<f32, lanes>;

fn sum(parts: vec4<f32>) -> f32 {
  return (parts.x + parts.y) + (parts.z + parts.w);
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let inner = (shape.inputs + 3u) / 4u;
  let outer = (shape.outputs + 3u) / 4u;
  let row = group.x * inner;
  var squares = 0.0;
  for (var output = lane; output < outer; output += lanes) {
    let start = 4u * output * inner;
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    var sum2 = vec4<f32>();
    var sum3 = vec4<f32>();
    for (var i = 0u; i < inner; i++) {
      let value = x[row + i];
      sum0 = fma(value, w[start + i], sum0);
      sum1 = fma(value, w[start + inner + i], sum1);
      sum2 = fma(value, w[start + 2u * inner + i], sum2);
      sum3 = fma(value, w[start + 3u * inner + i], sum3);
    }
    let values = vec4<f32>(sum(sum0), sum(sum1), sum(sum2), sum(sum3));
    y[group.x * outer + output] = values;
    squares += dot(values, values);
  }
  shares[lane] = squares;
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      shares[lane] += shares[lane + half];
    }
  }
  workgroupBarrier();
  let norm = sqrt(shares[0]);
  if (norm > 0.0) {
    for (var output = lane; output < outer; output += lanes) {
      y[group.x * outer + output] /= norm;
    }
  }
}
