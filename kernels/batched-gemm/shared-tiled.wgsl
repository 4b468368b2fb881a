// C = A·B for each of a batch, along z, with square tiles of A and B in workgroup memory: one element of C per invocation.

struct Shape { batch: u32, m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>; // batch × m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<f32>; // batch × ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read_write> c: array<f32>; // batch × m × ⌈n⌉₄

override tile: u32 = 16;

var<workgroup> tileA: array<f32, tile * tile>;
var<workgroup> tileB: array<f32, tile * tile>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let pitchA = (shape.k + 3u) / 4u * 4u;
  let pitchB = (shape.n + 3u) / 4u * 4u;
  let rowA = (at.z * shape.m + at.y) * pitchA;
  let startB = at.z * pitchA * pitchB;
  let slot = lane.y * tile + lane.x;
  var sum = 0.0;
  for (var start = 0u; start < shape.k; start += tile) {
    let column = start + lane.x;
    let row = start + lane.y;
    tileA[slot] = select(0.0, a[rowA + column], at.y < shape.m && column < shape.k);
    tileB[slot] = select(0.0, b[startB + row * pitchB + at.x], at.x < shape.n && row < shape.k);
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum = fma(tileA[lane.y * tile + k], tileB[k * tile + lane.x], sum);
    }
    workgroupBarrier();
  }
  if (at.y < shape.m && at.x < shape.n) {
    c[(at.z * shape.m + at.y) * pitchB + at.x] = sum;
  }
}
