// counts[i mod counters] += 1 for i below n, neighbours at neighbouring counters.

struct Shape { n: u32, counters: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

override lanes: u32 = 64;
override groups: u32 = 64;

@compute @workgroup_size(16)
fn clear(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x < shape.counters) {
    atomicStore(&counts[at.x], 0u);
  }
}

@compute @workgroup_size(lanes)
fn count(@builtin(global_invocation_id) at: vec3<u32>) {
  for (var i = at.x; i < shape.n; i += groups * lanes) {
    atomicAdd(&counts[i % shape.counters], 1u);
  }
}
