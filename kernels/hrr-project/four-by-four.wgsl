// Y = X·Wᵀ with four rows by four outputs an invocation, registers only; then each row is scaled to length 1.

struct Shape { rows: u32, inputs: u32, outputs: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // rows × ⌈inputs⌉₄
@group(0) @binding(2) var<storage, read> w: array<vec4<f32>>; // ⌈outputs⌉₄ × ⌈inputs⌉₄
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>; // rows × ⌈outputs⌉₄

override lanes: u32 = 8;

fn sum(parts: vec4<f32>) -> f32 {
  return (parts.x + parts.y) + (parts.z + parts.w);
}

@compute @workgroup_size(lanes)
fn project(@builtin(global_invocation_id) at: vec3<u32>) {
  let inner = (shape.inputs + 3u) / 4u;
  let outer = (shape.outputs + 3u) / 4u;
  if (at.x >= outer) {
    return;
  }
  // Rows beyond the last are the last one once more.
  let last = shape.rows - 1u;
  let rows = min(4u * at.y + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last)) * inner;
  let output = 4u * at.x * inner;
  var sums: array<vec4<f32>, 16>;
  for (var i = 0u; i < inner; i++) {
    let x0 = x[rows.x + i];
    let x1 = x[rows.y + i];
    let x2 = x[rows.z + i];
    let x3 = x[rows.w + i];
    let w0 = w[output + i];
    let w1 = w[output + inner + i];
    let w2 = w[output + 2u * inner + i];
    let w3 = w[output + 3u * inner + i];
    sums[0] = fma(x0, w0, sums[0]);
    sums[1] = fma(x0, w1, sums[1]);
    sums[2] = fma(x0, w2, sums[2]);
    sums[3] = fma(x0, w3, sums[3]);
    sums[4] = fma(x1, w0, sums[4]);
    sums[5] = fma(x1, w1, sums[5]);
    sums[6] = fma(x1, w2, sums[6]);
    sums[7] = fma(x1, w3, sums[7]);
    sums[8] = fma(x2, w0, sums[8]);
    sums[9] = fma(x2, w1, sums[9]);
    sums[10] = fma(x2, w2, sums[10]);
    sums[11] = fma(x2, w3, sums[11]);
    sums[12] = fma(x3, w0, sums[12]);
    sums[13] = fma(x3, w1, sums[13]);
    sums[14] = fma(x3, w2, sums[14]);
    sums[15] = fma(x3, w3, sums[15]);
  }
  let to = rows / inner * outer + at.x;
  y[to.x] = vec4<f32>(sum(sums[0]), sum(sums[1]), sum(sums[2]), sum(sums[3]));
  y[to.y] = vec4<f32>(sum(sums[4]), sum(sums[5]), sum(sums[6]), sum(sums[7]));
  y[to.z] = vec4<f32>(sum(sums[8]), sum(sums[9]), sum(sums[10]), sum(sums[11]));
  y[to.w] = vec4<f32>(sum(sums[12]), sum(sums[13]), sum(sums[14]), sum(sums[15]));
}

// What pads w is zero, and so is what pads y.
@compute @workgroup_size(lanes)
fn normalise(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.rows) {
    return;
  }
  let outer = (shape.outputs + 3u) / 4u;
  var squares = vec4<f32>();
  for (var i = at.x * outer; i < (at.x + 1u) * outer; i++) {
    squares = fma(y[i], y[i], squares);
  }
  let norm = sqrt(sum(squares));
  if (norm > 0.0) {
    for (var i = at.x * outer; i < (at.x + 1u) * outer; i++) {
      y[i] /= norm;
    }
  }
}
