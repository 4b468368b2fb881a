// C = A·Bᵀ in int8, summed in int32, with tiles of both in workgroup memory: one element of C per invocation. Both
// matrices have their rows along K, as `dot4I8Packed` wants its words.

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<u32>; // m × ⌈k⌉₁₆, four to a word
@group(0) @binding(2) var<storage, read> b: array<u32>; // n × ⌈k⌉₁₆
@group(0) @binding(3) var<storage, read_write> c: array<i32>; // m × ⌈n⌉₄

override tile: u32 = 16;

var<workgroup> tileA: array<u32, tile * tile>;
var<workgroup> tileB: array<u32, tile * tile>;

@compute @workgroup_size(tile, tile)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(global_invocation_id) at: vec3<u32>,
  @builtin(local_invocation_id) lane: vec3<u32>,
) {
  let pitch = (shape.k + 15u) / 16u * 4u;
  let slot = lane.y * tile + lane.x;
  let rowB = group.x * tile + lane.y;
  var sum = 0i;
  for (var start = 0u; start < pitch; start += tile) {
    let word = start + lane.x;
    tileA[slot] = select(0u, a[at.y * pitch + word], at.y < shape.m && word < pitch);
    tileB[slot] = select(0u, b[rowB * pitch + word], rowB < shape.n && word < pitch);
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum += dot4I8Packed(tileA[lane.y * tile + k], tileB[lane.x * tile + k]);
    }
    workgroupBarrier();
  }
  if (at.y < shape.m && at.x < shape.n) {
    c[at.y * ((shape.n + 3u) / 4u * 4u) + at.x] = sum;
  }
}
