// Basic arithmetic in f32, whose accuracy WGSL promises.

@group(0) @binding(0) var<storage, read_write> found: array<f32>;
@group(0) @binding(1) var<storage, read> given: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= arrayLength(&given)) {
    return;
  }
  let v = given[at.x];
  let first = 6u * at.x;
  found[first] = v.x + v.y;
  found[first + 1u] = v.x - v.y;
  found[first + 2u] = v.x * v.y;
  found[first + 3u] = v.x / v.y;
  found[first + 4u] = fma(v.x, v.y, v.z);
  found[first + 5u] = sqrt(abs(v.x));
}
