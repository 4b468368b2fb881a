enable f16;

// C = A·B in f16, summed in f32: 4 × 2 vec4 of C in registers per invocation, neighbours along N, no workgroup memory.

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f16>>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<vec4<f16>>; // ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f16>>; // m × ⌈n⌉₄

override lanesN: u32 = 8;
override lanesM: u32 = 1;

alias Wide = vec4<f32>;

fn multiplyAdd(sum: Wide, x: Wide, b0: Wide, b1: Wide, b2: Wide, b3: Wide) -> Wide {
  return fma(x.wwww, b3, fma(x.zzzz, b2, fma(x.yyyy, b1, fma(x.xxxx, b0, sum))));
}

fn store(row: u32, column: u32, columns: u32, value: Wide) {
  if (row < shape.m && column < columns) {
    c[row * columns + column] = vec4<f16>(value);
  }
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let columns = (shape.n + 3u) / 4u;
  let depth = (shape.k + 3u) / 4u;
  let row = (group.y * lanesM + lane.y) * 4u;
  let left = group.x * lanesN * 2u + lane.x;
  let right = left + lanesN;

  // What hangs over the edge computes with the last row or column and is not stored.
  let rows = min(vec4<u32>(row) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(shape.m - 1u)) * depth;
  let bLeft = min(left, columns - 1u);
  let bRight = min(right, columns - 1u);

  // Named, since an indexed array of them leaves the registers on software devices.
  var l0 = Wide(); var l1 = Wide(); var l2 = Wide(); var l3 = Wide();
  var r0 = Wide(); var r1 = Wide(); var r2 = Wide(); var r3 = Wide();
  for (var k = 0u; k < depth; k++) {
    let x0 = Wide(a[rows.x + k]);
    let x1 = Wide(a[rows.y + k]);
    let x2 = Wide(a[rows.z + k]);
    let x3 = Wide(a[rows.w + k]);
    let at = 4u * k * columns;
    let p0 = Wide(b[at + bLeft]);
    let p1 = Wide(b[at + columns + bLeft]);
    let p2 = Wide(b[at + 2u * columns + bLeft]);
    let p3 = Wide(b[at + 3u * columns + bLeft]);
    l0 = multiplyAdd(l0, x0, p0, p1, p2, p3);
    l1 = multiplyAdd(l1, x1, p0, p1, p2, p3);
    l2 = multiplyAdd(l2, x2, p0, p1, p2, p3);
    l3 = multiplyAdd(l3, x3, p0, p1, p2, p3);
    let q0 = Wide(b[at + bRight]);
    let q1 = Wide(b[at + columns + bRight]);
    let q2 = Wide(b[at + 2u * columns + bRight]);
    let q3 = Wide(b[at + 3u * columns + bRight]);
    r0 = multiplyAdd(r0, x0, q0, q1, q2, q3);
    r1 = multiplyAdd(r1, x1, q0, q1, q2, q3);
    r2 = multiplyAdd(r2, x2, q0, q1, q2, q3);
    r3 = multiplyAdd(r3, x3, q0, q1, q2, q3);
  }

  store(row, left, columns, l0); store(row, right, columns, r0);
  store(row + 1u, left, columns, l1); store(row + 1u, right, columns, r1);
  store(row + 2u, left, columns, l2); store(row + 2u, right, columns, r2);
  store(row + 3u, left, columns, l3); store(row + 3u, right, columns, r3);
}
