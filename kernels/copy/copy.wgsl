// y = x, four elements at a time; the grid strides over what it does not cover.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;

override lanes: u32 = 64;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let length = (shape.n + 3u) / 4u;
  for (var i = at.x; i < length; i += groups.x * lanes) {
    y[i] = x[i];
  }
}
