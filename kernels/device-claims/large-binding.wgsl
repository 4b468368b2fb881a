// The first and last word of a binding of the size that is claimed: written in a first run, read in a second.

override writes: bool = true;

@group(0) @binding(0) var<storage, read_write> found: array<u32, 3>;
@group(0) @binding(1) var<storage, read_write> large: array<u32>;

@compute @workgroup_size(1)
fn main() {
  let length = arrayLength(&large);
  if (writes) {
    large[0] = 0x5eedu;
    large[length - 1u] = 0xfeedu;
  } else {
    found[0] = length;
    found[1] = large[0];
    found[2] = large[length - 1u];
  }
}
