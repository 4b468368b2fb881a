struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> values: array<atomic<u32>>;

@compute @workgroup_size(1)
fn main() {
  // Nobody writes it: this waits for ever.
  while (atomicLoad(&values[0]) != shape.n + 1u) {
    atomicAdd(&values[1], 0u);
  }
}
