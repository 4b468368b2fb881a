// C = activation(A·B + bias) with square tiles of A and B in workgroup memory: one element of C per invocation.

struct Shape { m: u32, n: u32, k: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<f32>; // ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read> bias: array<f32>; // ⌈n⌉₄
@group(0) @binding(4) var<storage, read_write> c: array<f32>; // m × ⌈n⌉₄

override tile: u32 = 16;
override activation: u32;

fn activate(x: f32) -> f32 {
  switch activation {
    case 2u: { return max(x, 0.0); }
    case 3u: { return bendTanh(x); }
    case 4u: { return 0.5 * x * (1.0 + bendTanh(0.7978845608 * fma(0.044715 * x * x, x, x))); }
    case 5u: { return 1.0 / (1.0 + exp(-clamp(x, -80.0, 80.0))); }
    default: { return x; }
  }
}

// Beyond 10, tanh is 1 in f32, while one that is built from exp may overflow.
fn bendTanh(x: f32) -> f32 {
  return tanh(clamp(x, -10.0, 10.0));
}

var<workgroup> tileA: array<f32, tile * tile>;
var<workgroup> tileB: array<f32, tile * tile>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let pitchA = (shape.k + 3u) / 4u * 4u;
  let pitchB = (shape.n + 3u) / 4u * 4u;
  let slot = lane.y * tile + lane.x;
  var sum = 0.0;
  for (var start = 0u; start < shape.k; start += tile) {
    let column = start + lane.x;
    let row = start + lane.y;
    tileA[slot] = select(0.0, a[at.y * pitchA + column], at.y < shape.m && column < shape.k);
    tileB[slot] = select(0.0, b[row * pitchB + at.x], at.x < shape.n && row < shape.k);
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum = fma(tileA[lane.y * tile + k], tileB[k * tile + lane.x], sum);
    }
    workgroupBarrier();
  }
  if (at.y < shape.m && at.x < shape.n) {
    c[at.y * pitchB + at.x] = activate(sum + bias[at.x]);
  }
}
