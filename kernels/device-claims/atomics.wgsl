// Every invocation is counted twice: in memory that all share, and by group in workgroup memory first.

@group(0) @binding(0) var<storage, read_write> found: array<atomic<u32>, 4>;

var<workgroup> inGroup: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  atomicAdd(&found[0], 1u);
  atomicMax(&found[1], at.x);
  atomicXor(&found[2], at.x * 2654435761u);
  atomicAdd(&inGroup, at.x);
  workgroupBarrier();
  if (lane == 0u) {
    atomicAdd(&found[3], atomicLoad(&inGroup));
  }
}
