enable subgroups;

// Each lane tells the size of its subgroup, the first lane in it, and the sum and the maximum over all of its lanes.

@group(0) @binding(0) var<storage, read_write> found: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(subgroup_size) size: u32) {
  let value = lane * lane + 1u;
  found[lane] = vec4(size, subgroupBroadcastFirst(lane), subgroupAdd(value), subgroupMax(value));
}
