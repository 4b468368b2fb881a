// Who of a batch gets into the archive, one invocation for each: three passes, so that the same ones do in whatever
// order the invocations come. Stands behind order.wgsl; the twin is src/gpu-runner/archive/judge-batch.ts.

struct Insertion {
  count: u32,
  axes: u32,
  /// 1: thresholds follow what comes to a cell; 0: they are the fitness of its elite.
  annealed: u32,
  /// Exponent of the largest fitness of the batch, as it stands in a float.
  exponent: u32,
  threshold_min: f32,
  /// 1 − the learning rate.
  kept: f32,
  /// What the last bit of a sum is worth.
  unit: f32,
}

/// What became of one that was offered.
struct Addition {
  cell: u32,
  status: u32,
  value: f32,
  /// The cell's new threshold where it is the elite now.
  threshold: f32,
}

/// Of a cell.
struct Cell {
  filled: u32,
  threshold: f32,
  /// During a batch: the largest fitness in order, 2³² − 1 less the first who has it, and what all who may get in add up to.
  best: atomic<u32>,
  first: atomic<u32>,
  count: atomic<u32>,
  sum_low: atomic<u32>,
  sum_high: atomic<u32>,
}

const NOT_ADDED = 0u;
const IMPROVED = 1u;
const NEW = 2u;
const REFUSED = 3u;
/// Marks who won the cell.
const WON = 4u;

/// Bits that the largest fitness of a batch is shifted up by in a sum: 24 + 18 bits, and 2²⁰ of them.
const SUM_SHIFT = 18u;

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Insertion;
/// Cells of each axis.
@group(0) @binding(1) var<storage, read> dims: array<u32>;
/// Where each axis' next cell begins, axis by axis.
@group(0) @binding(2) var<storage, read> edges: array<f32>;
@group(0) @binding(3) var<storage, read> fitness: array<u32>;
@group(0) @binding(4) var<storage, read> measures: array<u32>;
@group(0) @binding(5) var<storage, read_write> cells: array<Cell>;
@group(0) @binding(6) var<storage, read_write> additions: array<Addition>;

/// How many edges of an axis are not above a measure, by halving.
fn locate(order: u32, from_edge: u32, size: u32) -> u32 {
  var low = 0u;
  var high = size - 1u;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (to_order(bitcast<u32>(edges[from_edge + middle])) <= order) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The number of a cell, or false where a measure is not finite.
fn find_cell(index: u32, cell: ptr<function, u32>) -> bool {
  var from_edge = 0u;
  *cell = 0u;
  for (var axis = 0u; axis < plan.axes; axis++) {
    let bits = measures[index * plan.axes + axis];
    if (!is_finite_word(bits)) {
      return false;
    }
    *cell = *cell * dims[axis] + locate(to_order(bits), from_edge, dims[axis]);
    from_edge += dims[axis] - 1u;
  }
  return true;
}

/// Adds a fitness to its cell's sum of 64 bits: integers come to the same in any order.
fn add_up(cell: u32, bits: u32) {
  atomicAdd(&cells[cell].count, 1u);
  let exponent = max((bits >> 23u) & 0xffu, 1u);
  let mantissa = (bits & 0x7fffffu) | select(0u, 0x800000u, ((bits >> 23u) & 0xffu) != 0u);
  let drop = plan.exponent - exponent;
  var low = 0u;
  var high = 0u;
  if (drop < SUM_SHIFT) {
    let shift = SUM_SHIFT - drop;
    low = mantissa << shift;
    high = mantissa >> (32u - shift);
  } else if (drop - SUM_SHIFT < 32u) {
    low = mantissa >> (drop - SUM_SHIFT);
  }
  if ((bits >> 31u) == 1u) {
    low = ~low + 1u;
    high = ~high + select(0u, 1u, low == 0u);
  }
  let before = atomicAdd(&cells[cell].sum_low, low);
  atomicAdd(&cells[cell].sum_high, high + select(0u, 1u, before + low < before));
}

@compute @workgroup_size(lanes)
fn judge(@builtin(global_invocation_id) id: vec3u) {
  let index = id.x;
  if (index >= plan.count) {
    return;
  }
  let bits = fitness[index];
  var cell = 0u;
  if (!is_finite_word(bits) || !find_cell(index, &cell)) {
    additions[index] = Addition(0u, REFUSED, 0f, 0f);
    return;
  }
  let is_new = cells[cell].filled == 0u;
  let is_open = is_new && plan.annealed == 0u;
  let threshold = select(cells[cell].threshold, plan.threshold_min, is_new);
  let value = bitcast<f32>(bits) - select(threshold, 0f, is_open);
  let order = to_order(bits);
  if (!is_open && order <= to_order(bitcast<u32>(threshold))) {
    additions[index] = Addition(cell, NOT_ADDED, value, 0f);
    return;
  }
  additions[index] = Addition(cell, select(IMPROVED, NEW, is_new), value, 0f);
  atomicMax(&cells[cell].best, order);
  if (plan.annealed == 1u) {
    add_up(cell, bits);
  }
}

fn is_best(index: u32) -> bool {
  let addition = additions[index];
  return (addition.status == IMPROVED || addition.status == NEW) &&
    atomicLoad(&cells[addition.cell].best) == to_order(fitness[index]);
}

@compute @workgroup_size(lanes)
fn choose(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < plan.count && is_best(id.x)) {
    atomicMax(&cells[additions[id.x].cell].first, ~id.x);
  }
}

/// t ← (1 − α)ⁿ t + mean(f)(1 − (1 − α)ⁿ) (Fontaine and Nikolaidis 2023, appendix).
fn move_threshold(cell: u32) -> f32 {
  let count = atomicLoad(&cells[cell].count);
  var low = atomicLoad(&cells[cell].sum_low);
  var high = atomicLoad(&cells[cell].sum_high);
  let is_negative = (high >> 31u) == 1u;
  if (is_negative) {
    low = ~low + 1u;
    high = ~high + select(0u, 1u, low == 0u);
  }
  let size = (f32(high) * 0x1p32f + f32(low)) / f32(count) * plan.unit;
  let mean = select(size, -size, is_negative);
  // By squaring: WGSL's own power may be far off.
  var kept = 1f;
  var square = plan.kept;
  for (var rest = count; rest > 0u; rest >>= 1u) {
    if ((rest & 1u) == 1u) {
      kept *= square;
    }
    square *= square;
  }
  let before = select(cells[cell].threshold, plan.threshold_min, cells[cell].filled == 0u);
  return kept * before + mean * (1f - kept);
}

/// Who won a cell notes it, and leaves the cell as the next batch wants it; whoever else looks at it now sees that it
/// is not the one.
@compute @workgroup_size(lanes)
fn settle(@builtin(global_invocation_id) id: vec3u) {
  let index = id.x;
  if (index >= plan.count || !is_best(index)) {
    return;
  }
  let cell = additions[index].cell;
  if (atomicLoad(&cells[cell].first) != ~index) {
    return;
  }
  var threshold = bitcast<f32>(fitness[index]);
  if (plan.annealed == 1u) {
    threshold = move_threshold(cell);
  }
  additions[index].threshold = threshold;
  additions[index].status |= WON;
  cells[cell].filled = 1u;
  cells[cell].threshold = threshold;
  atomicStore(&cells[cell].best, 0u);
  atomicStore(&cells[cell].first, 0u);
  atomicStore(&cells[cell].count, 0u);
  atomicStore(&cells[cell].sum_low, 0u);
  atomicStore(&cells[cell].sum_high, 0u);
}
