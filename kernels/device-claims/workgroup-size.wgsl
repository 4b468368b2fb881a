// One group of the size that is claimed: each invocation leaves its own number.

override x: u32 = 1;
override y: u32 = 1;
override z: u32 = 1;

@group(0) @binding(0) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(x, y, z)
fn main(@builtin(local_invocation_id) lane: vec3<u32>) {
  let index = lane.x + x * (lane.y + y * lane.z);
  found[index] = index + 1u;
}
