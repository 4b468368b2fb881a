// Superposition with one group an invocation: no barrier; the sum stands in the result until its length is known.

struct Shape { groups: u32, vectors: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // groups × vectors × ⌈d⌉₄
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>; // groups × ⌈d⌉₄

override lanes: u32 = 16;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = (shape.dimension + 3u) / 4u;
  for (var group = id.x; group < shape.groups; group += groups.x * lanes) {
    var squares = vec4<f32>();
    for (var i = 0u; i < length; i++) {
      var sum = vec4<f32>();
      for (var vector = 0u; vector < shape.vectors; vector++) {
        sum += x[(group * shape.vectors + vector) * length + i];
      }
      y[group * length + i] = sum;
      squares = fma(sum, sum, squares);
    }
    let norm = sqrt((squares.x + squares.y) + (squares.z + squares.w));
    if (norm > 0.0) {
      for (var i = 0u; i < length; i++) {
        y[group * length + i] /= norm;
      }
    }
  }
}
