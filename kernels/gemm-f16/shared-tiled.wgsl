enable f16;

// C = A·B in f16, summed in f32, with tiles of A and B in workgroup memory: one vec4 of C per invocation.

struct Shape { m: u32, n: u32, k: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f16>; // m × ⌈k⌉₄
@group(0) @binding(2) var<storage, read> b: array<vec4<f16>>; // ⌈k⌉₄ × ⌈n⌉₄
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f16>>; // m × ⌈n⌉₄

override tile: u32 = 16;

var<workgroup> tileA: array<f16, tile * tile>;
var<workgroup> tileB: array<vec4<f16>, tile * tile>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let pitch = (shape.k + 3u) / 4u * 4u;
  let columns = (shape.n + 3u) / 4u;
  let slot = lane.y * tile + lane.x;
  var sum = vec4<f32>();
  for (var start = 0u; start < shape.k; start += tile) {
    let column = start + lane.x;
    let row = start + lane.y;
    tileA[slot] = select(0.0h, a[at.y * pitch + column], at.y < shape.m && column < shape.k);
    tileB[slot] = select(vec4<f16>(), b[row * columns + at.x], at.x < columns && row < shape.k);
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum = fma(vec4<f32>(f32(tileA[lane.y * tile + k])), vec4<f32>(tileB[k * tile + lane.x]), sum);
    }
    workgroupBarrier();
  }
  if (at.y < shape.m && at.x < columns) {
    c[at.y * columns + at.x] = vec4<f16>(sum);
  }
}
