// Cosines with one pair a group: the lanes stride along it and meet once in workgroup memory.

struct Shape { pairs: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>; // pairs × ⌈d⌉₄
@group(0) @binding(2) var<storage, read> y: array<vec4<f32>>; // pairs × ⌈d⌉₄
@group(0) @binding(3) var<storage, read_write> cosines: array<f32>; // pairs

override lanes: u32 = 64;

var<workgroup> shares: array<vec3<f32>, lanes>; // of the product and of both squares

fn sum(parts: vec4<f32>) -> f32 {
  return (parts.x + parts.y) + (parts.z + parts.w);
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let length = (shape.dimension + 3u) / 4u;
  let own = group.x * length;
  var products = vec4<f32>();
  var squaresX = vec4<f32>();
  var squaresY = vec4<f32>();
  for (var i = lane; i < length; i += lanes) {
    let a = x[own + i];
    let b = y[own + i];
    products = fma(a, b, products);
    squaresX = fma(a, a, squaresX);
    squaresY = fma(b, b, squaresY);
  }
  shares[lane] = vec3<f32>(sum(products), sum(squaresX), sum(squaresY));
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      shares[lane] += shares[lane + half];
    }
  }
  if (lane == 0u) {
    let norms = sqrt(shares[0].y) * sqrt(shares[0].z);
    cosines[group.x] = select(0.0, shares[0].x / norms, norms > 0.0);
  }
}
