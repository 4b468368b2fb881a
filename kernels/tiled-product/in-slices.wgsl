// Products of matrices that have few tiles: a workgroup has one tile of the output, and its lanes form several slices that
// share the way along the depth. Each slice adds up its part of the tile, four rows and four columns a lane, from tiles of A
// and B in workgroup memory; then the slices meet. So that no lane waits, the next tiles are read while these are computed.
// Source: CUTLASS, "Efficient GEMM in CUDA", sliced-K.
//
// The files before have, beside `store(at, column, value)`:
//   findProduct(index): the size of a product
//   Source, findSource(product, row, column): where a lane reads a row of A and four columns of B
//   readA(source, k): the k-th vector of the row, which has four elements of the depth; readB(source, k): element k of
//   four columns; zero beyond the depth. An element is a float, or a word of packed numbers
//   countDepth(): the depth, by vectors
//   Four, Fours: such a vector, and four of them; addStep(sum, a, b, k, column): adds the products at vector k

// Lanes of a slice along the rows and along the columns, which is also its step along the depth; and lanes of a workgroup.
override sliceLanes: u32 = 8;
override groupLanes: u32 = 256;

// By slice, depth and row; and by slice, depth and columns.
var<workgroup> tileA: array<Four, groupLanes>;
var<workgroup> tileB: array<Four, groupLanes>;

@compute @workgroup_size(sliceLanes, sliceLanes, groupLanes / (sliceLanes * sliceLanes))
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let product = findProduct(group.z);
  let firstRow = group.y * 4u * sliceLanes;
  let column = group.x * sliceLanes + lane.x;
  let slot = lane.y * sliceLanes + lane.x;
  let slice = lane.z * sliceLanes * sliceLanes;
  // Beyond the edge it computes with the last row or column, and stores nothing.
  let row = min(firstRow + slot % (4u * sliceLanes), product.rows - 1u);
  let source = findSource(product, row, min(group.x * sliceLanes + slot % sliceLanes, product.columns - 1u));
  let slices = groupLanes / (sliceLanes * sliceLanes);
  let step = sliceLanes / 4u;
  let depth = countDepth();

  var k = lane.z * step;
  var nextA = readA(source, k + slot / (4u * sliceLanes));
  var nextB = readB(source, 4u * k + slot / sliceLanes);
  var sum = Block();
  for (var start = 0u; start < depth; start += slices * step) {
    tileA[slice + slot] = nextA;
    tileB[slice + slot] = nextB;
    workgroupBarrier();
    k += slices * step;
    nextA = readA(source, k + slot / (4u * sliceLanes));
    nextB = readB(source, 4u * k + slot / sliceLanes);
    for (var i = 0u; i < step; i++) {
      let a = takeA(slice + 4u * i * sliceLanes + lane.y);
      let b = takeB(slice + 4u * i * sliceLanes + lane.x);
      sum = addStep(sum, a, b, start + lane.z * step + i, column);
    }
    workgroupBarrier();
  }

  for (var half = slices / 2u; half > 0u; half /= 2u) {
    let at = 2u * (slot + (lane.z % half) * sliceLanes * sliceLanes);
    if (lane.z >= half && lane.z < 2u * half) {
      tileA[at] = bitcast<Four>(sum.x0);
      tileA[at + 1u] = bitcast<Four>(sum.x1);
      tileB[at] = bitcast<Four>(sum.x2);
      tileB[at + 1u] = bitcast<Four>(sum.x3);
    }
    workgroupBarrier();
    if (lane.z < half) {
      sum.x0 += bitcast<vec4<f32>>(tileA[at]);
      sum.x1 += bitcast<vec4<f32>>(tileA[at + 1u]);
      sum.x2 += bitcast<vec4<f32>>(tileB[at]);
      sum.x3 += bitcast<vec4<f32>>(tileB[at + 1u]);
    }
    workgroupBarrier();
  }
  if (lane.z > 0u) { return; }
  // In one loop, since compilers copy `store` to each of its calls.
  for (var i = 0u; i < 4u; i++) {
    storeRow(product, firstRow + lane.y + i * sliceLanes, column, sum.x0);
    sum = Block(sum.x1, sum.x2, sum.x3, vec4<f32>());
  }
}

// Rows of a lane lie apart, so that lanes read from different banks.
fn takeA(at: u32) -> Fours {
  return Fours(tileA[at], tileA[at + sliceLanes], tileA[at + 2u * sliceLanes], tileA[at + 3u * sliceLanes]);
}

fn takeB(at: u32) -> Fours {
  return Fours(tileB[at], tileB[at + sliceLanes], tileB[at + 2u * sliceLanes], tileB[at + 3u * sliceLanes]);
}
