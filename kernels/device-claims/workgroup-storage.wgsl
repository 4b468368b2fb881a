// Workgroup memory of the size that is claimed: what one lane wrote, another one reads.

override words: u32 = 64;
const LANES = 64u;

@group(0) @binding(0) var<storage, read_write> found: array<atomic<u32>, 2>;

var<workgroup> stored: array<u32, words>;

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) lane: u32) {
  for (var at = lane; at < words; at += LANES) {
    stored[at] = at * 2654435761u + 1u;
  }
  workgroupBarrier();
  var right = 0u;
  for (var at = (lane + 17u) % LANES; at < words; at += LANES) {
    right += select(0u, 1u, stored[at] == at * 2654435761u + 1u);
  }
  atomicAdd(&found[0], right);
}
