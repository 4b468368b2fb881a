// Neighbours on different paths: the loops stand inside of the branches, so that they cannot be merged.

struct Shape { n: u32, paths: u32, steps: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

override lanes: u32 = 64;

fn walk(path: u32, start: u32) -> u32 {
  var value = start;
  switch path {
    case 0u: { for (var i = 0u; i < shape.steps; i++) { value = value * 1664525u + 1013904223u; } }
    case 1u: { for (var i = 0u; i < shape.steps; i++) { value ^= value << 13u; } }
    case 2u: { for (var i = 0u; i < shape.steps; i++) { value ^= value >> 7u; } }
    case 3u: { for (var i = 0u; i < shape.steps; i++) { value = (value ^ 0x5bd1e995u) * 0x2c1b3c6du; } }
    case 4u: { for (var i = 0u; i < shape.steps; i++) { value = (value << 5u) | (value >> 27u); } }
    case 5u: { for (var i = 0u; i < shape.steps; i++) { value = ~value - (value << 3u); } }
    case 6u: { for (var i = 0u; i < shape.steps; i++) { value = value - (value >> 3u) + 12345u; } }
    default: { for (var i = 0u; i < shape.steps; i++) { value *= value | 1u; } }
  }
  return value;
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var i = at.x; i < shape.n; i += groups.x * lanes) {
    y[i] = walk(i % shape.paths, x[i]);
  }
}
