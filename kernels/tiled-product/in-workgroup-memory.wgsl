// Products of matrices with square tiles of A and B in workgroup memory: one element of a product per invocation.
//
// The files before have, beside `store(at, column, value)`:
//   countRows(), countColumns(), countPitch() (columns with their padding), countDepth(): the sizes of one product
//   Origin, findOrigin(row, product): where a row of A begins
//   readA(origin, row, k), readB(k, column, product): an element, zero beyond the edges

override tile: u32 = 16;

var<workgroup> tileA: array<f32, tile * tile>;
var<workgroup> tileB: array<f32, tile * tile>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let depth = countDepth();
  let origin = findOrigin(at.y, at.z);
  let slot = lane.y * tile + lane.x;
  var sum = 0.0;
  for (var start = 0u; start < depth; start += tile) {
    tileA[slot] = readA(origin, at.y, start + lane.x);
    tileB[slot] = readB(start + lane.y, at.x, at.z);
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum = fma(tileA[lane.y * tile + k], tileB[k * tile + lane.x], sum);
    }
    workgroupBarrier();
  }
  if (at.y < countRows() && at.x < countColumns()) {
    store((at.z * countRows() + at.y) * countPitch() + at.x, at.x, sum);
  }
}
