// x = a·x + b, sixteen times a round, of four independent values a lane, for devices that hide latency with
// many lanes or have few registers.

struct Shape { n: u32, rounds: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> coefficients: vec2<f32>; // a, b
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;

override lanes: u32 = 64;

fn fourSteps(x: vec4<f32>, a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return fma(fma(fma(fma(x, a, b), a, b), a, b), a, b);
}

fn sixteenSteps(x: vec4<f32>, a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return fourSteps(fourSteps(fourSteps(fourSteps(x, a, b), a, b), a, b), a, b);
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let first = group.x * lanes + lane.x;
  let a = vec4(coefficients.x);
  let b = vec4(coefficients.y);
  var p = x[first];
  for (var round = 0u; round < shape.rounds; round++) {
    p = sixteenSteps(p, a, b);
  }
  y[first] = p;
}
