// Prefix sums in three dispatches: each group sums up a contiguous share, one group scans those sums, and each
// walks along its share again, tile by tile, from where the one before it ends. Tiles are scanned in
// workgroup memory (Hillis and Steele, Communications of the ACM, 1986).

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> offsets: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<f32>>;

override shares: u32 = 64;
override lanes: u32 = 64;

// Two copies, read and written in turn.
var<workgroup> tile: array<f32, 2u * lanes>;

struct Share { start: u32, end: u32 }

fn findShare(index: u32) -> Share {
  let length = (shape.n + 3u) / 4u;
  let each = (length + shares - 1u) / shares;
  return Share(min(index * each, length), min((index + 1u) * each, length));
}

struct Prefix { before: f32, all: f32 }

// What the lanes before this one have, and what all have.
fn scanLanes(lane: u32, value: f32) -> Prefix {
  var source = 0u;
  tile[lane] = value;
  for (var reach = 1u; reach < lanes; reach *= 2u) {
    workgroupBarrier();
    var sum = tile[source + lane];
    if (lane >= reach) {
      sum += tile[source + lane - reach];
    }
    source = lanes - source;
    tile[source + lane] = sum;
  }
  workgroupBarrier();
  let before = select(0.0, tile[source + max(lane, 1u) - 1u], lane > 0u);
  let all = tile[source + lanes - 1u];
  workgroupBarrier();
  return Prefix(before, all);
}

@compute @workgroup_size(lanes)
fn sumShares(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let share = findShare(group.x);
  var sum = vec4<f32>();
  for (var i = share.start + lane.x; i < share.end; i += lanes) {
    sum += values[i];
  }
  let prefix = scanLanes(lane.x, (sum.x + sum.y) + (sum.z + sum.w));
  if (lane.x == 0u) {
    offsets[group.x] = prefix.all;
  }
}

@compute @workgroup_size(lanes)
fn scanShares(@builtin(local_invocation_id) lane: vec3<u32>) {
  var carry = 0.0;
  for (var start = 0u; start < shares; start += lanes) {
    let i = start + lane.x;
    let prefix = scanLanes(lane.x, select(0.0, offsets[i], i < shares));
    if (i < shares) {
      offsets[i] = carry + prefix.before;
    }
    carry += prefix.all;
  }
}

@compute @workgroup_size(lanes)
fn writeSums(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let share = findShare(group.x);
  var carry = offsets[group.x];
  for (var start = share.start; start < share.end; start += lanes) {
    let i = start + lane.x;
    var value = vec4<f32>();
    if (i < share.end) {
      value = values[i];
    }
    let pairs = vec2<f32>(value.x + value.y, value.z + value.w);
    let prefix = scanLanes(lane.x, pairs.x + pairs.y);
    if (i < share.end) {
      let sum = carry + prefix.before;
      sums[i] = sum + vec4<f32>(value.x, pairs.x, pairs.x + value.z, pairs.x + pairs.y);
    }
    carry += prefix.all;
  }
}
