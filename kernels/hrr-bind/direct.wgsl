// The definition, for any d: eight values of the result an invocation, which walks along the second vector and moves
// a window over the first. Sums are taken in blocks, so that they round like √d and not like d.

struct Shape { pairs: u32, dimension: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> first: array<f32>; // pairs × d
@group(0) @binding(2) var<storage, read> second: array<f32>; // pairs × d
@group(0) @binding(3) var<storage, read> roots: array<vec2<f32>>; // of the other variants
@group(0) @binding(4) var<storage, read_write> spectra: array<vec2<f32>>; // of the other variants
@group(0) @binding(5) var<storage, read_write> result: array<f32>; // pairs × d

override lanes: u32 = 16;
override conjugate: f32; // 1 to convolve, −1 to correlate

const BLOCK = 64u;

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let d = shape.dimension;
  let each = (d + 7u) / 8u;
  for (var item = id.x; item < shape.pairs * each; item += groups.x * lanes) {
    let own = item / each * d;
    let k = item % each * 8u;
    // To correlate is to convolve with the second vector read backwards: 0, d − 1, d − 2 …
    var at = 0u;
    var window0 = vec4<f32>(first[own + k], first[own + (k + 1u) % d], first[own + (k + 2u) % d], first[own + (k + 3u) % d]);
    var window1 = vec4<f32>(
      first[own + (k + 4u) % d],
      first[own + (k + 5u) % d],
      first[own + (k + 6u) % d],
      first[own + (k + 7u) % d],
    );
    var next = k;
    var sum0 = vec4<f32>();
    var sum1 = vec4<f32>();
    for (var start = 0u; start < d; start += BLOCK) {
      var part0 = vec4<f32>();
      var part1 = vec4<f32>();
      for (var j = start; j < min(start + BLOCK, d); j++) {
        let factor = second[own + at];
        part0 = fma(window0, vec4<f32>(factor), part0);
        part1 = fma(window1, vec4<f32>(factor), part1);
        next = select(next, d, next == 0u) - 1u;
        window1 = vec4<f32>(window0.w, window1.xyz);
        window0 = vec4<f32>(first[own + next], window0.xyz);
        if (conjugate > 0.0) {
          at = j + 1u;
        } else {
          at = d - 1u - j;
        }
      }
      sum0 += part0;
      sum1 += part1;
    }
    for (var i = 0u; i < 4u; i++) {
      if (k + i < d) {
        result[own + k + i] = sum0[i];
      }
      if (k + 4u + i < d) {
        result[own + k + 4u + i] = sum1[i];
      }
    }
  }
}
