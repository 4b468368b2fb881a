// Superposition with a workgroup for each group of vectors: the lanes stride along them and meet once for the length.

struct Shape { groups: u32, vectors: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // groups × vectors × ⌈d⌉₄
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>; // groups × ⌈d⌉₄

override lanes: u32 = 64;

var<workgroup> shares: array<f32, lanes>;

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let length = (shape.dimension + 3u) / 4u;
  var squares = vec4<f32>();
  for (var i = lane; i < length; i += lanes) {
    var sum = vec4<f32>();
    for (var vector = 0u; vector < shape.vectors; vector++) {
      sum += x[(group.x * shape.vectors + vector) * length + i];
    }
    y[group.x * length + i] = sum;
    squares = fma(sum, sum, squares);
  }
  shares[lane] = (squares.x + squares.y) + (squares.z + squares.w);
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      shares[lane] += shares[lane + half];
    }
  }
  workgroupBarrier();
  let norm = sqrt(shares[0]);
  if (norm > 0.0) {
    for (var i = lane; i < length; i += lanes) {
      y[group.x * length + i] /= norm;
    }
  }
}
