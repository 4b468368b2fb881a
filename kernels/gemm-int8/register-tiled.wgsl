// C = A·Bᵀ in int8, summed in int32: 4 × 4 of C in registers per invocation, sixteen products of each a step. Both
// matrices have their rows along K, as `dot4I8Packed` wants its words.

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>; // m × ⌈k⌉₁₆, sixteen to a vector
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>; // n × ⌈k⌉₁₆
@group(0) @binding(3) var<storage, read_write> c: array<vec4<i32>>; // m × ⌈n⌉₄

override lanesN: u32 = 8;
override lanesM: u32 = 1;

fn dot16(x: vec4<u32>, y: vec4<u32>) -> i32 {
  return dot4I8Packed(x.x, y.x) + dot4I8Packed(x.y, y.y) + dot4I8Packed(x.z, y.z) + dot4I8Packed(x.w, y.w);
}

fn dotRow(x: vec4<u32>, b0: vec4<u32>, b1: vec4<u32>, b2: vec4<u32>, b3: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(dot16(x, b0), dot16(x, b1), dot16(x, b2), dot16(x, b3));
}

fn store(row: u32, column: u32, columns: u32, value: vec4<i32>) {
  if (row < shape.m && column < columns) {
    c[row * columns + column] = value;
  }
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  let columns = (shape.n + 3u) / 4u;
  let depth = (shape.k + 15u) / 16u;
  let row = at.y * 4u;

  // What hangs over the edge computes with the last row and is not stored, or lies in the padding of C.
  let each = vec4<u32>(0u, 1u, 2u, 3u);
  let rowsA = min(vec4<u32>(row) + each, vec4<u32>(shape.m - 1u)) * depth;
  let rowsB = min(vec4<u32>(at.x * 4u) + each, vec4<u32>(shape.n - 1u)) * depth;

  // Named, since an indexed array of them leaves the registers on software devices.
  var c0 = vec4<i32>();
  var c1 = vec4<i32>();
  var c2 = vec4<i32>();
  var c3 = vec4<i32>();
  for (var k = 0u; k < depth; k++) {
    let b0 = b[rowsB.x + k];
    let b1 = b[rowsB.y + k];
    let b2 = b[rowsB.z + k];
    let b3 = b[rowsB.w + k];
    c0 += dotRow(a[rowsA.x + k], b0, b1, b2, b3);
    c1 += dotRow(a[rowsA.y + k], b0, b1, b2, b3);
    c2 += dotRow(a[rowsA.z + k], b0, b1, b2, b3);
    c3 += dotRow(a[rowsA.w + k], b0, b1, b2, b3);
  }

  store(row, at.x, columns, c0);
  store(row + 1u, at.x, columns, c1);
  store(row + 2u, at.x, columns, c2);
  store(row + 3u, at.x, columns, c3);
}
