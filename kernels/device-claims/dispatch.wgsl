// As many groups as are claimed along one dimension: each is counted.

@group(0) @binding(0) var<storage, read_write> found: array<atomic<u32>, 2>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3<u32>) {
  atomicAdd(&found[0], 1u);
  atomicMax(&found[1], max(group.x, max(group.y, group.z)));
}
