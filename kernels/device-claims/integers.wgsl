// What WGSL says of 32-bit integers, at the ends of their range, too: sums and products wrap around, a division by
// zero gives the dividend, and so does that of the smallest number by -1.

@group(0) @binding(0) var<storage, read_write> found: array<u32>;
@group(0) @binding(1) var<storage, read> given: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= arrayLength(&given)) {
    return;
  }
  let a = given[at.x].x;
  let b = given[at.x].y;
  let first = 8u * at.x;
  found[first] = a + b;
  found[first + 1u] = a - b;
  found[first + 2u] = a * b;
  found[first + 3u] = a / b;
  found[first + 4u] = bitcast<u32>(bitcast<i32>(a) / bitcast<i32>(b));
  found[first + 5u] = bitcast<u32>(bitcast<i32>(a) >> (b & 31u));
  found[first + 6u] = countOneBits(a) ^ reverseBits(b);
  found[first + 7u] = select(0u, 1u, bitcast<i32>(a) < bitcast<i32>(b));
}
