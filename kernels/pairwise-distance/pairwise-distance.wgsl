// Mean Euclidean distance of all pairs of rows. Every row is paired with the half of the others that follow it, in a
// circle, so that all have the same work; shares of that half are summed each by an invocation, and then one
// group sums up.

struct Shape { members: u32, genes: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> population: array<vec4<f32>>; // members × ⌈genes⌉₄
@group(0) @binding(2) var<storage, read_write> partial: array<f32>;
@group(0) @binding(3) var<storage, read_write> diversity: array<f32>;

override lanes: u32 = 16;
override shares: u32 = 4;

var<workgroup> sums: array<f32, lanes>;

fn measure(a: u32, b: u32) -> f32 {
  let pitch = (shape.genes + 3u) / 4u;
  var squares = vec4<f32>();
  for (var i = 0u; i < pitch; i++) {
    let gap = population[a * pitch + i] - population[b * pitch + i];
    squares = fma(gap, gap, squares);
  }
  return sqrt(dot(squares, vec4<f32>(1.0)));
}

@compute @workgroup_size(lanes)
fn sumShares(@builtin(global_invocation_id) at: vec3<u32>) {
  let member = at.x;
  if (member >= shape.members) {
    return;
  }
  // Of an even number, only half of the members are paired with the one opposite.
  let following = (shape.members - 1u) / 2u + u32(shape.members % 2u == 0u && member < shape.members / 2u);
  var sum = 0.0;
  for (var step = 1u + at.y; step <= following; step += shares) {
    sum += measure(member, (member + step) % shape.members);
  }
  partial[at.y * shape.members + member] = sum;
}

@compute @workgroup_size(lanes)
fn sumUp(@builtin(local_invocation_id) lane: vec3<u32>) {
  var sum = 0.0;
  for (var i = lane.x; i < shares * shape.members; i += lanes) {
    sum += partial[i];
  }
  sums[lane.x] = sum;
  workgroupBarrier();
  if (lane.x == 0u) {
    for (var i = 1u; i < lanes; i++) {
      sum += sums[i];
    }
    let pairs = f32(shape.members) * f32(shape.members - 1u) / 2.0;
    diversity[0] = sum / max(pairs, 1.0);
  }
}
