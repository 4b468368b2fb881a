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
  let is_wide = last.d4 - tile.column > 2 * COLUMNS;
  var found = Found(-infinity(), 0u, 0.0, vec4<f32>(), vec4<f32>(), vec4<f32>(), vec4<f32>());
  for (var key = 0; key < first.d4; key += KEYS) {
    tile.key = key;
    stage_values(last, tile);
    find_scores(first, tile);
    workgroupBarrier();
    found = follow_scores(found, tile, min(KEYS, first.d4 - key), is_wide);
    workgroupBarrier();
  }
  put_attended(last, tile, found);
}

// Up to four elements of the arena; those beyond `count` are 0. Whole ones are read without a branch each, so that a lane
// does not wait for one after the other.
fn read_four(at: i32, step: i32, count: i32) -> vec4<f32> {
  if (count >= 4) { return vec4<f32>(arena[at], arena[at + step], arena[at + 2 * step], arena[at + 3 * step]); }
  var four = vec4<f32>();
  if (count > 0) { four.x = arena[at]; }
  if (count > 1) { four.y = arena[at + step]; }
  if (count > 2) { four.z = arena[at + 2 * step]; }
  return four;
}

// Four numbers of one of the tile's queries: the one of slot `i` in workgroup memory.
fn read_query(op: Op, tile: Tile, corner: Corner, depth: i32, i: i32) -> vec4<f32> {
  let begin = depth + 4 * (i % DEPTH);
  let query = tile.query + i / DEPTH;
  let at = tile.base + op.input + corner.a + query * op.a3 + begin * op.a5;
  return read_four(at, op.a5, select(0, op.d5 - begin, query < op.d3));
}

// Row and column, in vectors of four, of a lane's keys. Neighbouring lanes read along the axis in which keys lie together.
fn place_key(op: Op, i: i32) -> vec2<i32> {
  if (op.b5 > op.b4) { return vec2<i32>(i % KEYS, i / KEYS); }
  return vec2<i32>(i / DEPTH, i % DEPTH);
}

fn read_key(op: Op, tile: Tile, corner: Corner, depth: i32, place: vec2<i32>) -> vec4<f32> {
  let begin = depth + 4 * place.y;
  let key = tile.key + place.x;
  let at = tile.base + op.weights + corner.b + key * op.b4 + begin * op.b5;
  return read_four(at, op.b5, select(0, op.d5 - begin, key < op.d4));
}

// Numbers from `depth` on of the tile's queries and keys, two vectors of each a lane. Queries that are there already stay.
fn stage_queries_and_keys(op: Op, tile: Tile, depth: i32) {
  let corner = find_corner(op, tile.matrix);
  let places = array<vec2<i32>, 2>(place_key(op, tile.lane), place_key(op, tile.lane + ATTENDING));
  let key0 = read_key(op, tile, corner, depth, places[0]);
  let key1 = read_key(op, tile, corner, depth, places[1]);
  if (tile.key == 0 || op.d5 > 4 * DEPTH) {
    let query0 = read_query(op, tile, corner, depth, tile.lane);
    let query1 = read_query(op, tile, corner, depth, tile.lane + ATTENDING);
    queries[tile.lane / DEPTH * PITCH + tile.lane % DEPTH] = query0;
    queries[(tile.lane + ATTENDING) / DEPTH * PITCH + tile.lane % DEPTH] = query1;
  }
  keys[places[0].x * PITCH + places[0].y] = key0;
  keys[places[1].x * PITCH + places[1].y] = key1;
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
  let key = min(tile.key + column + vec4<i32>(0, 4, 8, 12), vec4<i32>(op.d4 - 1));
  let elements = (tile.matrix * op.d3 + query) * op.d4 + key;
  if (has_summands && op.other >= 0) { sums += read_each(tile.base + op.other + elements); }
  let found = follow_products(tile.base, elements, quantise(op, activate(op, sums)));
  for (var i = 0; i < 4; i++) { scores[row * KEYS + column + 4 * i] = found[i]; }
}

fn read_each(at: vec4<i32>) -> vec4<f32> { return vec4<f32>(arena[at.x], arena[at.y], arena[at.z], arena[at.w]); }

// What the functions make of four scores. `channels` says whether their first operand is the score. A `Where` is two of
// them: one that gives all elements and one that replaces some.
fn follow_products(base: i32, elements: vec4<i32>, products: vec4<f32>) -> vec4<f32> {
  var score = products;
  var other = vec4<f32>();
  for (var step = 1u; step < ops[0].run - 2u; step++) {
    let op = ops[step];
    let x = walk(op, elements.x); let y = walk(op, elements.y);
    let z = walk(op, elements.z); let w = walk(op, elements.w);
    let is_score = op.channels != 0;
    var a = score;
    if (!is_score && op.which != SECOND) { a = read_each(base + op.input + vec4<i32>(x.a, y.a, z.a, w.a)); }
    var b = vec4<f32>();
    if (op.other >= 0) {
      b = vec4<f32>(second(op, base, x.b), second(op, base, y.b), second(op, base, z.b), second(op, base, w.b));
    }
    if (op.which == COPY_WHERE) {
      score = select(select(score, other, is_score), a, b != vec4<f32>());
      continue;
    }
    switch op.which {
      case COPY: {}
      case SQUARE: { a *= a; }
      case SECOND: { a = b; }
      default: { for (var i = 0; i < 4; i++) { a[i] = apply(op.which, a[i], b[i]); } }
    }
    a = quantise(op, activate(op, a));
    if (is_score) { score = a; } else { other = a; }
  }
  return score;
}

// The tile's values, four vectors a lane.
fn stage_values(op: Op, tile: Tile) {
  let corner = find_corner(op, tile.matrix);
  let row = tile.lane / COLUMNS;
  let value0 = read_value(op, tile, corner, row);
  let value1 = read_value(op, tile, corner, row + 4);
  let value2 = read_value(op, tile, corner, row + 8);
  let value3 = read_value(op, tile, corner, row + 12);
  values[tile.lane] = value0;
  values[tile.lane + ATTENDING] = value1;
  values[tile.lane + 2 * ATTENDING] = value2;
  values[tile.lane + 3 * ATTENDING] = value3;
}

fn read_value(op: Op, tile: Tile, corner: Corner, row: i32) -> vec4<f32> {
  let column = tile.column + 4 * (tile.lane % COLUMNS);
  let key = tile.key + row;
  let at = tile.base + op.weights + corner.b + key * op.b5 + column * op.b4;
  return read_four(at, op.b4, select(0, op.d4 - column, key < op.d5));
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
