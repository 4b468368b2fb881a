enable f16;

// Basic arithmetic in f16; operands and results are f32 in memory, so what is not a half there was none.

@group(0) @binding(0) var<storage, read_write> found: array<f32>;
@group(0) @binding(1) var<storage, read> given: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= arrayLength(&given)) {
    return;
  }
  let v = vec4<f16>(given[at.x]);
  let first = 4u * at.x;
  found[first] = f32(v.x + v.y);
  found[first + 1u] = f32(v.x - v.y);
  found[first + 2u] = f32(v.x * v.y);
  found[first + 3u] = f32(fma(v.x, v.y, v.z));
}
