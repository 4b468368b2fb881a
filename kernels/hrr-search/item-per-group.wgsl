// Cosines of every query with every item, a pair a group: the lanes stride along it and meet in workgroup memory.

struct Shape { queries: u32, items: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> queries: array<vec4<f32>>; // queries × ⌈d⌉₄
@group(0) @binding(2) var<storage, read> items: array<vec4<f32>>; // items × ⌈d⌉₄
@group(0) @binding(3) var<storage, read_write> cosines: array<f32>; // queries × items

override lanes: u32 = 64;

var<workgroup> shares: array<vec3<f32>, lanes>; // of the product and of both squares

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let length = (shape.dimension + 3u) / 4u;
  var products = vec4<f32>();
  var squares = vec4<f32>();
  var query_squares = vec4<f32>();
  for (var i = lane; i < length; i += lanes) {
    let own = items[group.x * length + i];
    let other = queries[group.y * length + i];
    products = fma(own, other, products);
    squares = fma(own, own, squares);
    query_squares = fma(other, other, query_squares);
  }
  let ones = vec4<f32>(1.0);
  shares[lane] = vec3<f32>(dot(products, ones), dot(squares, ones), dot(query_squares, ones));
  for (var half = lanes / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      shares[lane] += shares[lane + half];
    }
  }
  if (lane == 0u) {
    let norms = sqrt(shares[0].y) * sqrt(shares[0].z);
    cosines[group.y * shape.items + group.x] = select(0.0, shares[0].x / norms, norms > 0.0);
  }
}
