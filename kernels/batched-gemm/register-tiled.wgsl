// C = A·B for each of a batch, along z, with 8 × 2 vec4 of C in registers per invocation: neighbours along N.
// The accumulators are named, since an indexed array of them leaves the registers on software devices.

struct Shape { batch: u32, m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>; // batch × m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>; // batch × ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>; // batch × m × ⌈n⌉₄

override lanesN: u32 = 8;
override lanesM: u32 = 1;

fn multiplyAdd(sum: vec4<f32>, x: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>, b2: vec4<f32>, b3: vec4<f32>) -> vec4<f32> {
  return fma(x.wwww, b3, fma(x.zzzz, b2, fma(x.yyyy, b1, fma(x.xxxx, b0, sum))));
}

fn store(product: u32, row: u32, column: u32, columns: u32, value: vec4<f32>) {
  if (row < shape.m && column < columns) {
    c[(product * shape.m + row) * columns + column] = value;
  }
}

@compute @workgroup_size(lanesN, lanesM)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let columns = (shape.n + 3u) / 4u;
  let depth = (shape.k + 3u) / 4u;
  let row = (group.y * lanesM + lane.y) * 8u;
  let left = group.x * lanesN * 2u + lane.x;
  let right = left + lanesN;

  // What hangs over the edge computes with the last row or column and is not stored.
  let bLeft = min(left, columns - 1u);
  let bRight = min(right, columns - 1u);
  let last = shape.m - 1u;
  let rowsBefore = group.z * shape.m;
  let bBefore = group.z * 4u * depth * columns;
  let a0 = (rowsBefore + min(row, last)) * depth;
  let a1 = (rowsBefore + min(row + 1u, last)) * depth;
  let a2 = (rowsBefore + min(row + 2u, last)) * depth;
  let a3 = (rowsBefore + min(row + 3u, last)) * depth;
  let a4 = (rowsBefore + min(row + 4u, last)) * depth;
  let a5 = (rowsBefore + min(row + 5u, last)) * depth;
  let a6 = (rowsBefore + min(row + 6u, last)) * depth;
  let a7 = (rowsBefore + min(row + 7u, last)) * depth;

  var l0 = vec4<f32>(); var l1 = vec4<f32>(); var l2 = vec4<f32>(); var l3 = vec4<f32>();
  var l4 = vec4<f32>(); var l5 = vec4<f32>(); var l6 = vec4<f32>(); var l7 = vec4<f32>();
  var r0 = vec4<f32>(); var r1 = vec4<f32>(); var r2 = vec4<f32>(); var r3 = vec4<f32>();
  var r4 = vec4<f32>(); var r5 = vec4<f32>(); var r6 = vec4<f32>(); var r7 = vec4<f32>();

  for (var k = 0u; k < depth; k++) {
    let x0 = a[a0 + k]; let x1 = a[a1 + k]; let x2 = a[a2 + k]; let x3 = a[a3 + k];
    let x4 = a[a4 + k]; let x5 = a[a5 + k]; let x6 = a[a6 + k]; let x7 = a[a7 + k];
    let at = bBefore + 4u * k * columns + bLeft;
    let p0 = b[at];
    let p1 = b[at + columns];
    let p2 = b[at + 2u * columns];
    let p3 = b[at + 3u * columns];
    l0 = multiplyAdd(l0, x0, p0, p1, p2, p3);
    l1 = multiplyAdd(l1, x1, p0, p1, p2, p3);
    l2 = multiplyAdd(l2, x2, p0, p1, p2, p3);
    l3 = multiplyAdd(l3, x3, p0, p1, p2, p3);
    l4 = multiplyAdd(l4, x4, p0, p1, p2, p3);
    l5 = multiplyAdd(l5, x5, p0, p1, p2, p3);
    l6 = multiplyAdd(l6, x6, p0, p1, p2, p3);
    l7 = multiplyAdd(l7, x7, p0, p1, p2, p3);
    let to = bBefore + 4u * k * columns + bRight;
    let q0 = b[to];
    let q1 = b[to + columns];
    let q2 = b[to + 2u * columns];
    let q3 = b[to + 3u * columns];
    r0 = multiplyAdd(r0, x0, q0, q1, q2, q3);
    r1 = multiplyAdd(r1, x1, q0, q1, q2, q3);
    r2 = multiplyAdd(r2, x2, q0, q1, q2, q3);
    r3 = multiplyAdd(r3, x3, q0, q1, q2, q3);
    r4 = multiplyAdd(r4, x4, q0, q1, q2, q3);
    r5 = multiplyAdd(r5, x5, q0, q1, q2, q3);
    r6 = multiplyAdd(r6, x6, q0, q1, q2, q3);
    r7 = multiplyAdd(r7, x7, q0, q1, q2, q3);
  }

  store(group.z, row, left, columns, l0); store(group.z, row, right, columns, r0);
  store(group.z, row + 1u, left, columns, l1); store(group.z, row + 1u, right, columns, r1);
  store(group.z, row + 2u, left, columns, l2); store(group.z, row + 2u, right, columns, r2);
  store(group.z, row + 3u, left, columns, l3); store(group.z, row + 3u, right, columns, r3);
  store(group.z, row + 4u, left, columns, l4); store(group.z, row + 4u, right, columns, r4);
  store(group.z, row + 5u, left, columns, l5); store(group.z, row + 5u, right, columns, r5);
  store(group.z, row + 6u, left, columns, l6); store(group.z, row + 6u, right, columns, r6);
  store(group.z, row + 7u, left, columns, l7); store(group.z, row + 7u, right, columns, r7);
}
