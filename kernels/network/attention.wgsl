// Attention in one step: a workgroup has a tile of the queries of a head and walks over the keys and values, tile by tile.
// Maxima and sums of exponentials are kept as it goes on, so that no scores are written (Milakov and Gimelshein, 2018; Dao
// et al., 2022).
//
// The table has the operators that the step stands for, in this order: the product of queries and keys, functions of the
// scores element by element, the softmax, and the product with the values. The files before have their functions.

const QUERIES = 16;
const KEYS = 16;
// Numbers of a query that are in workgroup memory at a time, in vectors of four. Rows there are a vector longer, so that
// lanes read from different banks.
const DEPTH = 8;
const PITCH = 9;
// Columns of the values in a workgroup, in vectors of four.
const COLUMNS = 16;
// Lanes of a workgroup, and of a query.
const ATTENDING = 64;
const LANES_EACH = 4;

const LOWEST = -3.4028234e38;

var<workgroup> queries: array<vec4<f32>, 144>; // QUERIES × PITCH
var<workgroup> keys: array<vec4<f32>, 144>; // KEYS × PITCH
var<workgroup> values: array<vec4<f32>, 256>; // KEYS × COLUMNS
var<workgroup> scores: array<f32, 256>; // QUERIES × KEYS

// The first query, column and key of a tile, and where its matrices begin.
struct Tile { lane: i32, base: i32, matrix: i32, query: i32, column: i32, key: i32 }

// What a query has found so far: the largest score, the largest bits of a score, the sum of exponentials, and the values
// times their exponentials. Each lane has every fourth vector of these.
struct Found { largest: f32, worst: u32, sum: f32, v0: vec4<f32>, v1: vec4<f32>, v2: vec4<f32>, v3: vec4<f32> }

@compute @workgroup_size(64)
fn attend(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = ops[0];
  let last = ops[first.run - 1u];
  let across = (last.d4 + 4 * COLUMNS - 1) / (4 * COLUMNS);
  var tile = Tile(i32(lane), i32(group.y) * first.arena, i32(group.z), 0, 0, 0);
  tile.query = i32(group.x) / across * QUERIES;
  tile.column = i32(group.x) % across * 4 * COLUMNS;
  var found = Found(-infinity(), 0u, 0.0, vec4<f32>(), vec4<f32>(), vec4<f32>(), vec4<f32>());
  for (var key = 0; key < first.d4; key += KEYS) {
    tile.key = key;
    find_scores(first, tile);
    stage_values(last, tile);
    workgroupBarrier();
    found = follow_scores(found, tile, min(KEYS, first.d4 - key), last.d4 - tile.column > 2 * COLUMNS);
    workgroupBarrier();
  }
  put_attended(last, tile, found);
}

// Up to four elements of the arena; those beyond `count` are 0.
fn read_four(at: i32, step: i32, count: i32) -> vec4<f32> {
  var four = vec4<f32>();
  if (count > 0) { four.x = arena[at]; }
  if (count > 1) { four.y = arena[at + step]; }
  if (count > 2) { four.z = arena[at + 2 * step]; }
  if (count > 3) { four.w = arena[at + 3 * step]; }
  return four;
}

// Numbers from `depth` on of the tile's queries and keys.
fn stage_queries_and_keys(op: Op, tile: Tile, depth: i32) {
  let corner = find_corner(op, tile.matrix);
  // Neighbouring lanes read along the axis in which the keys lie together.
  let is_turned = op.b5 > op.b4;
  for (var i = tile.lane; i < QUERIES * DEPTH; i += ATTENDING) {
    let row = i / DEPTH;
    let begin = depth + 4 * (i % DEPTH);
    let query = tile.query + row;
    let at = tile.base + op.input + corner.a + query * op.a3 + begin * op.a5;
    queries[row * PITCH + i % DEPTH] = read_four(at, op.a5, select(0, op.d5 - begin, query < op.d3));
  }
  for (var i = tile.lane; i < KEYS * DEPTH; i += ATTENDING) {
    let row = select(i / DEPTH, i % KEYS, is_turned);
    let column = select(i % DEPTH, i / KEYS, is_turned);
    let begin = depth + 4 * column;
    let key = tile.key + row;
    let at = tile.base + op.weights + corner.b + key * op.b4 + begin * op.b5;
    keys[row * PITCH + column] = read_four(at, op.b5, select(0, op.d5 - begin, key < op.d4));
  }
}

// The tile's scores, with what follows the product. Each lane computes four.
fn find_scores(op: Op, tile: Tile) {
  let row = tile.lane / LANES_EACH;
  let column = tile.lane % LANES_EACH;
  var sums = vec4<f32>();
  for (var depth = 0; depth < op.d5; depth += 4 * DEPTH) {
    stage_queries_and_keys(op, tile, depth);
    workgroupBarrier();
    for (var i = 0; i < DEPTH; i++) {
      let query = queries[row * PITCH + i];
      sums.x += dot(query, keys[column * PITCH + i]);
      sums.y += dot(query, keys[(column + 4) * PITCH + i]);
      sums.z += dot(query, keys[(column + 8) * PITCH + i]);
      sums.w += dot(query, keys[(column + 12) * PITCH + i]);
    }
    workgroupBarrier();
  }
  let query = min(tile.query + row, op.d3 - 1);
  for (var i = 0; i < 4; i++) {
    let key = min(tile.key + column + 4 * i, op.d4 - 1);
    let element = (tile.matrix * op.d3 + query) * op.d4 + key;
    scores[row * KEYS + column + 4 * i] = follow_product(tile.base, element, finished(op, tile.base, element, sums[i]));
  }
}

// What the functions make of a score. `channels` says whether their first operand is the score. A `Where` is two of them:
// one that gives all elements and one that replaces some.
fn follow_product(base: i32, element: i32, product: f32) -> f32 {
  var score = product;
  var other = 0.0;
  for (var step = 1u; step < ops[0].run - 2u; step++) {
    let op = ops[step];
    let at = walk(op, element);
    let is_score = op.channels != 0;
    var a = score;
    if (!is_score && op.which != SECOND) { a = arena[base + op.input + at.a]; }
    var b = 0.0;
    if (op.other >= 0) { b = second(op, base, at.b); }
    if (op.which == COPY_WHERE) {
      score = select(select(score, other, is_score), a, b != 0.0);
      continue;
    }
    switch op.which {
      case COPY: {}
      case SQUARE: { a *= a; }
      case SECOND: { a = b; }
      default: { a = apply(op.which, a, b); }
    }
    a = finished(op, base, element, a);
    if (is_score) { score = a; } else { other = a; }
  }
  return score;
}

fn stage_values(op: Op, tile: Tile) {
  let corner = find_corner(op, tile.matrix);
  for (var i = tile.lane; i < KEYS * COLUMNS; i += ATTENDING) {
    let key = tile.key + i / COLUMNS;
    let column = tile.column + 4 * (i % COLUMNS);
    let at = tile.base + op.weights + corner.b + key * op.b5 + column * op.b4;
    values[i] = read_four(at, op.b4, select(0, op.d4 - column, key < op.d5));
  }
}

// Takes a tile's scores and values of so many keys into what a query has found.
fn follow_scores(before: Found, tile: Tile, count: i32, is_wide: bool) -> Found {
  var found = before;
  let row = tile.lane / LANES_EACH * KEYS;
  for (var i = 0; i < count; i++) {
    found.largest = max(found.largest, scores[row + i]);
    found.worst = worse(found.worst, scores[row + i]);
  }
  // Only finite numbers are taken off: where all scores are -infinity so far, so are their shares 0.
  let high = max(found.largest, LOWEST);
  let factor = exp(max(before.largest, LOWEST) - high);
  found.sum *= factor;
  found.v0 *= factor;
  found.v1 *= factor;
  found.v2 *= factor;
  found.v3 *= factor;
  for (var i = 0; i < count; i++) {
    let share = exp(scores[row + i] - high);
    let at = i * COLUMNS + tile.lane % LANES_EACH;
    found.sum += share;
    found.v0 += share * values[at];
    found.v1 += share * values[at + 4];
    if (is_wide) {
      found.v2 += share * values[at + 8];
      found.v3 += share * values[at + 12];
    }
  }
  return found;
}

// Writes a query's values; there are none where a score is NaN or infinite, or all are -infinity, as in `softmax`.
fn put_attended(op: Op, tile: Tile, found: Found) {
  let query = tile.query + tile.lane / LANES_EACH;
  if (query >= op.d3) { return; }
  let is_none = found.worst > 0x7f800000u || (bitcast<u32>(found.largest) & 0x7fffffffu) == 0x7f800000u;
  let factor = select(1.0 / found.sum, not_a_number(), is_none);
  let first = find_corner(op, tile.matrix).out + query * op.o3;
  let column = tile.column + 4 * (tile.lane % LANES_EACH) + vec4<i32>(0, 1, 2, 3);
  put4(op, tile.base, first, column, op.d4, found.v0 * factor);
  put4(op, tile.base, first, column + 16, op.d4, found.v1 * factor);
  put4(op, tile.base, first, column + 32, op.d4, found.v2 * factor);
  put4(op, tile.base, first, column + 48, op.d4, found.v3 * factor);
}
