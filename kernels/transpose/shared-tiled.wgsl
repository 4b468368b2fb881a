// B = Aᵀ with a square tile in workgroup memory; its pitch is odd, so that no two lanes meet in a bank.

struct Shape { m: u32, n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<f32>; // ⌈m⌉₄ × ⌈n⌉₄
@group(0) @binding(2) var<storage, read_write> b: array<f32>; // ⌈n⌉₄ × ⌈m⌉₄

override tile: u32 = 16;

var<workgroup> values: array<f32, tile * (tile + 1u)>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let pitchA = (shape.n + 3u) / 4u * 4u;
  let pitchB = (shape.m + 3u) / 4u * 4u;
  let source = group.xy * tile + lane.xy;
  if (source.x < shape.n && source.y < shape.m) {
    values[lane.y * (tile + 1u) + lane.x] = a[source.y * pitchA + source.x];
  }
  workgroupBarrier();
  let sink = group.yx * tile + lane.xy;
  if (sink.x < shape.m && sink.y < shape.n) {
    b[sink.y * pitchB + sink.x] = values[lane.x * (tile + 1u) + lane.y];
  }
}
