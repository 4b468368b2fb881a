struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> values: array<f32>;

override lanes: u32 = 16;
override turns: u32 = 20000;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= shape.n) {
    return;
  }
  var state = at.x + 1u;
  for (var turn = 0u; turn < turns; turn++) {
    state = state * 1664525u + 1013904223u;
  }
  // Depends on the loop, so that no compiler drops it, and is 1 for every element of the test all the same.
  values[at.x] = select(1.0, 2.0, state == shape.n);
}
