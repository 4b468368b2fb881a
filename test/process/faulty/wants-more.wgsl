@group(0) @binding(1) var<storage, read_write> values: array<f32, 1024>;

@compute @workgroup_size(1)
fn main() {
  values[0] = 1.0;
}
