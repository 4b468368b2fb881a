// Compaction in three dispatches: each group counts what it keeps of a contiguous share, one group scans the
// counts, and each walks along its share again, tile by tile, and writes from there on. Tiles are scanned in
// workgroup memory (Hillis and Steele, Communications of the ACM, 1986).

struct Shape { n: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>; // ⌈n⌉₄
@group(0) @binding(2) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<f32>;
@group(0) @binding(4) var<storage, read_write> count: array<u32>;

override shares: u32 = 64;
override lanes: u32 = 64;
override threshold: f32;
override scale: f32;

// Two copies, read and written in turn.
var<workgroup> tile: array<u32, 2u * lanes>;

// In vectors.
struct Share { start: u32, end: u32 }

fn findShare(index: u32) -> Share {
  let length = (shape.n + 3u) / 4u;
  let each = (length + shares - 1u) / shares;
  return Share(min(index * each, length), min((index + 1u) * each, length));
}

// 1 for what is kept of a vector; the last one may end in padding.
fn keep(i: u32, value: vec4<f32>) -> vec4<u32> {
  let inside = 4u * i + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(shape.n);
  return vec4<u32>((value > vec4<f32>(threshold)) & inside);
}

struct Prefix { before: u32, all: u32 }

// What the lanes before this one have, and what all have.
fn scanLanes(lane: u32, value: u32) -> Prefix {
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
  let before = tile[source + lane] - value;
  let all = tile[source + lanes - 1u];
  workgroupBarrier();
  return Prefix(before, all);
}

@compute @workgroup_size(lanes)
fn countShares(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let share = findShare(group.x);
  var counted = vec4<u32>();
  for (var i = share.start + lane.x; i < share.end; i += lanes) {
    counted += keep(i, values[i]);
  }
  let prefix = scanLanes(lane.x, counted.x + counted.y + counted.z + counted.w);
  if (lane.x == 0u) {
    offsets[group.x] = prefix.all;
  }
}

@compute @workgroup_size(lanes)
fn scanShares(@builtin(local_invocation_id) lane: vec3<u32>) {
  var carry = 0u;
  for (var start = 0u; start < shares; start += lanes) {
    let i = start + lane.x;
    let prefix = scanLanes(lane.x, select(0u, offsets[i], i < shares));
    if (i < shares) {
      offsets[i] = carry + prefix.before;
    }
    carry += prefix.all;
  }
  if (lane.x == 0u) {
    count[0] = carry;
  }
}

@compute @workgroup_size(lanes)
fn writeKept(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let share = findShare(group.x);
  var sink = offsets[group.x];
  for (var start = share.start; start < share.end; start += lanes) {
    let i = start + lane.x;
    var value = vec4<f32>();
    var keeps = vec4<u32>();
    if (i < share.end) {
      value = values[i];
      keeps = keep(i, value);
    }
    let y = keeps.x + keeps.y;
    let z = y + keeps.z;
    let prefix = scanLanes(lane.x, z + keeps.w);
    let at = sink + prefix.before;
    if (keeps.x > 0u) { kept[at] = scale * value.x; }
    if (keeps.y > 0u) { kept[at + keeps.x] = scale * value.y; }
    if (keeps.z > 0u) { kept[at + y] = scale * value.z; }
    if (keeps.w > 0u) { kept[at + z] = scale * value.w; }
    sink += prefix.all;
  }
  // Behind everything that is kept, each clears the places of its own share.
  for (var i = max(4u * share.start, count[0]) + lane.x; i < min(4u * share.end, shape.n); i += lanes) {
    kept[i] = 0.0;
  }
}
