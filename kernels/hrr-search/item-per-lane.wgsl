// Cosines of every query with every item, an item an invocation: it is read once for four queries.

struct Shape { queries: u32, items: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> queries: array<vec4<f32>>; // queries × ⌈d⌉₄
@group(0) @binding(2) var<storage, read> items: array<vec4<f32>>; // items × ⌈d⌉₄
@group(0) @binding(3) var<storage, read_write> cosines: array<f32>; // queries × items

override lanes: u32 = 16;

fn cosine(product: f32, squares: f32, query_squares: f32) -> f32 {
  let norms = sqrt(squares) * sqrt(query_squares);
  return select(0.0, product / norms, norms > 0.0);
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = (shape.dimension + 3u) / 4u;
  let first = id.y * 4u;
  // Queries beyond the last are read as the last and not written.
  let last = shape.queries - 1u;
  let starts = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(last)) * length;
  for (var item = id.x; item < shape.items; item += groups.x * lanes) {
    var products = array<vec4<f32>, 4>();
    var query_squares = array<vec4<f32>, 4>();
    var squares = vec4<f32>();
    for (var i = 0u; i < length; i++) {
      let own = items[item * length + i];
      squares = fma(own, own, squares);
      for (var query = 0u; query < 4u; query++) {
        let other = queries[starts[query] + i];
        products[query] = fma(own, other, products[query]);
        query_squares[query] = fma(other, other, query_squares[query]);
      }
    }
    for (var query = 0u; query < 4u && first + query < shape.queries; query++) {
      cosines[(first + query) * shape.items + item] = cosine(
        dot(products[query], vec4<f32>(1.0)),
        dot(squares, vec4<f32>(1.0)),
        dot(query_squares[query], vec4<f32>(1.0)),
      );
    }
  }
}
