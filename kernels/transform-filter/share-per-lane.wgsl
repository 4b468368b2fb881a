// Compaction in three dispatches: each invocation counts what it keeps of a contiguous share, one scans the
// counts, and each walks along its share again and writes from there on.

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<f32>; // ⌈n⌉₄
@group(0) @binding(2) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<f32>;
@group(0) @binding(4) var<storage, read_write> count: array<u32>;

override shares: u32 = 256;
override lanes: u32 = 16;
override threshold: f32;
override scale: f32;

struct Share { start: u32, end: u32 }

fn findShare(index: u32) -> Share {
  let each = (shape.n + shares - 1u) / shares;
  return Share(min(index * each, shape.n), min((index + 1u) * each, shape.n));
}

@compute @workgroup_size(lanes)
fn countShares(@builtin(global_invocation_id) at: vec3<u32>) {
  let share = findShare(at.x);
  var counted = 0u;
  for (var i = share.start; i < share.end; i++) {
    counted += u32(values[i] > threshold);
  }
  offsets[at.x] = counted;
}

@compute @workgroup_size(1)
fn scanShares() {
  var sum = 0u;
  for (var i = 0u; i < shares; i++) {
    let share = offsets[i];
    offsets[i] = sum;
    sum += share;
  }
  count[0] = sum;
}

@compute @workgroup_size(lanes)
fn writeKept(@builtin(global_invocation_id) at: vec3<u32>) {
  let share = findShare(at.x);
  var sink = offsets[at.x];
  for (var i = share.start; i < share.end; i++) {
    let value = values[i];
    if (value > threshold) {
      kept[sink] = scale * value;
      sink++;
    }
  }
  // Behind everything that is kept, each clears the places of its own share.
  for (var i = max(share.start, count[0]); i < share.end; i++) {
    kept[i] = 0.0;
  }
}
