// y[i] = table[places[i]]; the grid strides over what it does not cover.

struct Shape { n: u32, span: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> table: array<f32>; // span
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

override lanes: u32 = 64;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var i = at.x; i < shape.n; i += groups.x * lanes) {
    y[i] = table[places[i]];
  }
}
