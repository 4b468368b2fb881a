// Cosines with one pair an invocation: no barrier, but lanes read far apart.

struct Shape { pairs: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // pairs × ⌈d⌉₄
@group(0) @binding(2) var<storage, read> y: array<vec4<f32>>; // pairs × ⌈d⌉₄
@group(0) @binding(3) var<storage, read_write> cosines: array<f32>; // pairs

override lanes: u32 = 16;

fn sum(parts: vec4<f32>) -> f32 {
  return (parts.x + parts.y) + (parts.z + parts.w);
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = (shape.dimension + 3u) / 4u;
  for (var pair = id.x; pair < shape.pairs; pair += groups.x * lanes) {
    var products = vec4<f32>();
    var squaresX = vec4<f32>();
    var squaresY = vec4<f32>();
    for (var i = pair * length; i < (pair + 1u) * length; i++) {
      let a = x[i];
      let b = y[i];
      products = fma(a, b, products);
      squaresX = fma(a, a, squaresX);
      squaresY = fma(b, b, squaresY);
    }
    let norms = sqrt(sum(squaresX)) * sqrt(sum(squaresY));
    cosines[pair] = select(0.0, sum(products) / norms, norms > 0.0);
  }
}
