@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read_write> values: array<atomic<u32>>;

@compute @workgroup_size(1)
fn main() {
  // Nobody writes the awaited value, which no compiler can know: this waits for ever.
  while (atomicLoad(&values[0]) != n + 1u) {
    atomicAdd(&values[1], 0u);
  }
}
