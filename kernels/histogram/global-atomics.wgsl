// Histogram: the grid strides over the keys and counts each in storage.

struct Shape { n: u32, bins: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> keys: array<u32>; // those below 0 read as very large ones
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;

override lanes: u32 = 64;
override groups: u32 = 64;

@compute @workgroup_size(16)
fn clear(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x < shape.bins) {
    atomicStore(&counts[at.x], 0u);
  }
}

@compute @workgroup_size(lanes)
fn count(@builtin(global_invocation_id) at: vec3<u32>) {
  for (var i = at.x; i < shape.n; i += groups * lanes) {
    let key = keys[i];
    if (key < shape.bins) {
      atomicAdd(&counts[key], 1u);
    }
  }
}
