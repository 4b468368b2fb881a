// Prefix sums in three dispatches: each invocation sums up a contiguous share, one scans those sums, and each
// walks along its share again from where the one before it ends.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> offsets: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<f32>>;

override shares: u32 = 256;
override lanes: u32 = 16;

struct Share { start: u32, end: u32 }

fn findShare(index: u32) -> Share {
  let length = (shape.n + 3u) / 4u;
  let each = (length + shares - 1u) / shares;
  return Share(min(index * each, length), min((index + 1u) * each, length));
}

@compute @workgroup_size(lanes)
fn sumShares(@builtin(global_invocation_id) at: vec3<u32>) {
  let share = findShare(at.x);
  var sum = vec4<f32>();
  for (var i = share.start; i < share.end; i++) {
    sum += values[i];
  }
  offsets[at.x] = (sum.x + sum.y) + (sum.z + sum.w);
}

@compute @workgroup_size(1)
fn scanShares() {
  var sum = 0.0;
  for (var i = 0u; i < shares; i++) {
    let share = offsets[i];
    offsets[i] = sum;
    sum += share;
  }
}

@compute @workgroup_size(lanes)
fn writeSums(@builtin(global_invocation_id) at: vec3<u32>) {
  let share = findShare(at.x);
  var sum = offsets[at.x];
  for (var i = share.start; i < share.end; i++) {
    let value = values[i];
    let x = sum + value.x;
    let y = x + value.y;
    let z = y + value.z;
    sum = z + value.w;
    sums[i] = vec4<f32>(x, y, z, sum);
  }
}
