// Nothing, but for the last invocation, which leaves a mark so that one can see that it ran.

struct Shape { groups: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> mark: array<u32>;

override lanes: u32 = 64;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x + 1u == shape.groups * lanes) {
    mark[0] = shape.groups;
  }
}
