// x = x + dot(bytes of x, w), sixteen times a round, of four independent values a lane. Each step needs the
// one before it, so that none can be taken out of the loop.

struct Shape { n: u32, rounds: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> weights: u32; // four bytes, w
@group(0) @binding(2) var<storage, read> x: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<i32>>;

override lanes: u32 = 64;

fn step(x: vec4<i32>, w: u32) -> vec4<i32> {
  let bytes = bitcast<vec4<u32>>(x);
  return x + vec4(
    dot4I8Packed(bytes.x, w),
    dot4I8Packed(bytes.y, w),
    dot4I8Packed(bytes.z, w),
    dot4I8Packed(bytes.w, w),
  );
}

fn fourSteps(x: vec4<i32>, w: u32) -> vec4<i32> {
  return step(step(step(step(x, w), w), w), w);
}

fn sixteenSteps(x: vec4<i32>, w: u32) -> vec4<i32> {
  return fourSteps(fourSteps(fourSteps(fourSteps(x, w), w), w), w);
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let first = group.x * lanes + lane.x;
  var p = x[first];
  for (var round = 0u; round < shape.rounds; round++) {
    p = sixteenSteps(p, weights);
  }
  y[first] = p;
}
