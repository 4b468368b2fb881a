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

fn square(a: vec4<f32>, b: vec4<f32>) -> f32 {
  let gap = a - b;
  return dot(gap, gap);
}

// Distances of a row from four others.
fn measure(row: u32, others: vec4<u32>) -> vec4<f32> {
  let pitch = (shape.genes + 3u) / 4u;
  let first = row * pitch;
  let firsts = others * pitch;
  var squares = vec4<f32>();
  for (var i = 0u; i < pitch; i++) {
    let own = population[first + i];
    squares += vec4<f32>(
      square(own, population[firsts.x + i]),
      square(own, population[firsts.y + i]),
      square(own, population[firsts.z + i]),
      square(own, population[firsts.w + i]),
    );
  }
  return sqrt(squares);
}

@compute @workgroup_size(lanes)
fn sumShares(@builtin(global_invocation_id) at: vec3<u32>) {
  let member = at.x;
  if (member >= shape.members) {
    return;
  }
  // Of an even number, only half of the members are paired with the one opposite.
  let following = (shape.members - 1u) / 2u + u32(shape.members % 2u == 0u && member < shape.members / 2u);
  var totals = vec4<f32>();
  for (var step = 1u + 4u * at.y; step <= following; step += 4u * shares) {
    let steps = vec4<u32>(step) + vec4<u32>(0u, 1u, 2u, 3u);
    let distances = measure(member, (vec4<u32>(member) + steps) % shape.members);
    totals += select(vec4<f32>(), distances, steps <= vec4<u32>(following));
  }
  partial[at.y * shape.members + member] = dot(totals, vec4<f32>(1.0));
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
