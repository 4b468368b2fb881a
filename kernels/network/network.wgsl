// A network as a table of operators. A workgroup does its share of every operator of a dispatch for one row of the batch,
// one operator after the other: a dispatch of several operators has one workgroup for each row, since only the lanes of a
// workgroup can wait for each other. Whatever decides about a barrier is read from the uniform table.

// What the planner says of an operator (src/gpu-runner/network/network-op.ts names what each of them uses). Offsets are in
// words, those of activations within a row's arena; -1 is none.
struct Op {
  kind: u32,
  // Operators of this dispatch, said by its first.
  run: u32,
  items: i32,
  input: i32,
  output: i32,
  other: i32,
  // Whether the second operand lies among the weights.
  otherIsConstant: i32,
  weights: i32,
  weightType: u32,
  bias: i32,
  scales: i32,
  // Inputs of an output that share a scale.
  scaleBlock: i32,
  activation: u32,
  alpha: f32,
  beta: f32,
  quantised: u32,
  step: f32,
  zero: f32,
  low: f32,
  high: f32,
  // Which of a kind: of binary functions, pools, reductions.
  which: u32,
  // Of one group.
  channels: i32,
  filters: i32,
  height: i32,
  width: i32,
  outHeight: i32,
  outWidth: i32,
  kernelHeight: i32,
  kernelWidth: i32,
  strideY: i32,
  strideX: i32,
  dilationY: i32,
  dilationX: i32,
  padY: i32,
  padX: i32,
  rows: i32,
  // Sizes of an index, its last axis last, and by how much each operand moves along them.
  rank: u32,
  d0: i32, d1: i32, d2: i32, d3: i32, d4: i32, d5: i32,
  a0: i32, a1: i32, a2: i32, a3: i32, a4: i32, a5: i32,
  b0: i32, b1: i32, b2: i32, b3: i32, b4: i32, b5: i32,
  o0: i32, o1: i32, o2: i32, o3: i32, o4: i32, o5: i32,
  arena: i32,
  unused0: i32, unused1: i32,
}

@group(0) @binding(0) var<uniform> ops: array<Op, 64>;
@group(0) @binding(1) var<storage, read> weights4: array<vec4<f32>>;
// The same bytes.
@group(0) @binding(2) var<storage, read> words: array<u32>;
// rows × arena
@group(0) @binding(3) var<storage, read_write> arena: array<f32>;
// Each input and then each output, rows × elements.
@group(0) @binding(4) var<storage, read_write> ends: array<f32>;

override lanes: u32 = 64;

const LOAD = 0u;
const STORE = 1u;
const MAP = 2u;
const CONVOLVE = 3u;
const CONVOLVE_EACH = 4u;
const DENSE = 5u;
const POOL = 6u;
const REDUCE = 7u;
const SOFTMAX = 8u;
const GRU = 9u;
const LSTM = 10u;
const PRODUCT = 11u;
const REDUCE_SELDOM = 12u;
const NORMALISE = 13u;
const CUMULATE = 14u;
const SCATTER = 15u;
const SELECT = 16u;
const CONVOLVE_FAR = 17u;

// Where a lane stands: its first item, by how much it goes on, and where its row's arena begins.
struct Place { first: i32, stride: i32, base: i32, row: i32, rows: i32 }

// Which kinds a network has. What it has not is left out when the pipeline is made: compilers are slow.
override has_map: bool = true;
override has_convolve: bool = true;
override has_convolve_each: bool = true;
override has_dense: bool = true;
override has_dense_rows: bool = true;
override has_pool: bool = true;
override has_reduce: bool = true;
override has_softmax: bool = true;
override has_recur: bool = true;
override has_product: bool = true;
override has_reduce_seldom: bool = true;
override has_normalise: bool = true;
override has_cumulate: bool = true;
override has_scatter: bool = true;
override has_select: bool = true;
override has_convolve_far: bool = true;
override has_seldom: bool = true;
override has_seldom_map: bool = true;

// Each kind has a loop of its own: devices that compute all branches by masks skip a loop, but nothing else.
fn compute_all(op: Op, place: Place) {
  let kind = op.kind;
  let items = op.items;
  let is_one_row = op.rows <= 1;
  if (has_map && kind == MAP) {
    for (var item = place.first; item < items; item += place.stride) {
      map(op, place, item);
    }
  }
  if (has_convolve && kind == CONVOLVE) {
    for (var item = place.first; item < items; item += place.stride) {
      convolve(op, place, item);
    }
  }
  if (has_convolve_each && kind == CONVOLVE_EACH) {
    for (var item = place.first; item < items; item += place.stride) {
      convolve_each(op, place, item);
    }
  }
  if (has_pool && kind == POOL) {
    for (var item = place.first; item < items; item += place.stride) {
      pool(op, place, item);
    }
  }
  if (has_reduce && kind == REDUCE) {
    for (var item = place.first; item < items; item += place.stride) {
      reduce(op, place, item);
    }
  }
  if (has_dense && kind == DENSE && is_one_row) {
    for (var item = place.first; item < items; item += place.stride) {
      dense(op, place, item);
    }
  }
  if (has_dense_rows && kind == DENSE && !is_one_row) {
    for (var item = place.first; item < items; item += place.stride) {
      dense_rows(op, place, item);
    }
  }
  if (has_product && kind == PRODUCT) {
    for (var item = place.first; item < items; item += place.stride) {
      product(op, place, item);
    }
  }
  if (has_reduce_seldom && kind == REDUCE_SELDOM) {
    for (var item = place.first; item < items; item += place.stride) {
      reduce_seldom(op, place, item);
    }
  }
  if (has_normalise && kind == NORMALISE) {
    for (var item = place.first; item < items; item += place.stride) {
      normalise(op, place, item);
    }
  }
  if (has_cumulate && kind == CUMULATE) {
    for (var item = place.first; item < items; item += place.stride) {
      cumulate(op, place, item);
    }
  }
  if (has_scatter && kind == SCATTER) {
    for (var item = place.first; item < items; item += place.stride) {
      scatter(op, place, item);
    }
  }
  if (has_select && kind == SELECT) {
    for (var item = place.first; item < items; item += place.stride) {
      select_largest(op, place, item);
    }
  }
  if (has_convolve_far && kind == CONVOLVE_FAR) {
    for (var item = place.first; item < items; item += place.stride) {
      convolve_far(op, place, item);
    }
  }
}

fn copy_in(op: Op, place: Place) {
  let source = op.input * place.rows + op.items * place.row;
  for (var item = place.first; item < op.items; item += place.stride) {
    arena[place.base + op.output + item] = ends[source + item];
  }
}

fn copy_out(op: Op, place: Place) {
  let to = op.output * place.rows + op.items * place.row;
  for (var item = place.first; item < op.items; item += place.stride) {
    ends[to + item] = arena[place.base + op.input + item];
  }
}

@compute @workgroup_size(lanes)
fn run_network(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = i32(group.y);
  let place = Place(
    i32(group.x * lanes + lane), i32(groups.x * lanes), row * ops[0].arena, row, i32(groups.y),
  );
  for (var at = 0u; at < ops[0].run; at++) {
    // Read once: what stands behind a place that is not constant takes a software device as long as a few products.
    let op = ops[at];
    switch op.kind {
      case LOAD: { copy_in(op, place); }
      case STORE: { copy_out(op, place); }
      case SOFTMAX: { if (has_softmax) { softmax(op, place); } }
      case GRU, LSTM: { if (has_recur) { recur(op, place); } }
      default: { compute_all(op, place); }
    }
    storageBarrier();
  }
}
