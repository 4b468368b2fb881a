// Sinuca: one cue ball and seven others on a table with six pockets; a step is a whole shot. docs/methodology.md has the
// definitions. Lengths in metres, the origin in the middle of the table, x along it.

const BALLS = 8u;
const HALF = vec2f(1.27, 0.635);
const CUE_RADIUS = 0.028f;
const RADIUS = 0.026f;
const POCKET_RADIUS = 0.05f;
const BALL_RESTITUTION = 0.89f;
const CUSHION_RESTITUTION = 0.75f;
const DECELERATION = 0.0981f; // rolling, 0.01 · 9.81 m/s²
const CUE_X = -0.635f;
const ALL_BALLS = 0xffu;
const CUE_BALL = 1u;

struct State {
  x: array<f32, BALLS>,
  z: array<f32, BALLS>,
  on_table: u32, // a bit for each ball, 0 the cue ball
}

/// Balls in motion.
struct Table {
  place: array<vec2f, BALLS>,
  speed: array<vec2f, BALLS>,
  on_table: u32,
  moving: u32, // a bit for each ball that may move: what is not among them is passed over
  first_hit: u32, // the ball that the cue ball met first; BALLS: none yet
}

fn reset(random: ptr<function, Random>) -> State {
  let apart = 2.1f * RADIUS;
  var rows = array<vec2f, 7>(vec2f(0, 0), vec2f(1, -0.5), vec2f(1, 0.5), vec2f(2, -1), vec2f(2, 0), vec2f(2, 1), vec2f(3, 0.5));
  var state: State;
  state.x[0] = CUE_X;
  state.z[0] = (2f * draw_uniform(random).x - 1f) * CUE_SPREAD;
  for (var ball = 1u; ball < BALLS; ball++) {
    state.x[ball] = -CUE_X + rows[ball - 1u].x * 0.866f * apart;
    state.z[ball] = rows[ball - 1u].y * apart;
  }
  state.on_table = ALL_BALLS;
  return state;
}

/// The lowest ball of those that are left, 0 where there is none.
fn aim_of(on_table: u32) -> u32 {
  let others = on_table & ~CUE_BALL;
  return select(firstTrailingBit(others), 0u, others == 0u);
}

/// From a place to the pocket nearest to it.
fn to_pocket(place: vec2f) -> vec2f {
  let side = select(-HALF, HALF, place >= vec2f(0f));
  let corner = side - place;
  let middle = vec2f(0f, side.y) - place;
  return select(corner, middle, dot(middle, middle) < dot(corner, corner));
}

fn observe(state: State) -> Observation {
  let aim = aim_of(state.on_table);
  let cue = vec2f(state.x[0], state.z[0]);
  let place = vec2f(state.x[aim], state.z[aim]);
  let left = countOneBits(state.on_table & ~CUE_BALL);
  return Observation(
    cue.x / HALF.x,
    cue.y / HALF.y,
    place.x / HALF.x,
    place.y / HALF.y,
    angle_of(to_pocket(place)) / 3.14159265359f,
    min(length(place - cue), 2f) / 2f,
    f32(aim) / 7f * 2f - 1f,
    f32(left) / 7f * 2f - 1f,
  );
}

fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  var table: Table;
  for (var ball = 0u; ball < BALLS; ball++) {
    table.place[ball] = vec2f((*state).x[ball], (*state).z[ball]);
  }
  table.on_table = (*state).on_table;
  table.moving = CUE_BALL;
  table.first_hit = BALLS;
  let aim = aim_of(table.on_table);
  let distance = length(to_pocket(table.place[aim]));
  table.speed[0] = strike(table.place[aim] - table.place[0], action);
  for (var taken = 0u; taken < SUBSTEPS; taken++) {
    let fastest = fastest_of(&table);
    if (fastest == 0f) {
      break;
    }
    move_balls(&table, select(min(SECONDS, LONGEST_MOVE / fastest), SECONDS, EXPLICIT == 1));
    collide_balls(&table);
    leave_table(&table);
    meet_cushions(&table);
  }
  let potted = countOneBits((*state).on_table & ~table.on_table & ~CUE_BALL);
  let cue_potted = (table.on_table & CUE_BALL) == 0u;
  if (cue_potted) {
    table.place[0] = vec2f(CUE_X, 0f);
  }
  let stays = ((table.on_table >> aim) & 1u) == 1u;
  let after = select(0f, length(to_pocket(table.place[aim])), stays);
  let foul = select(0f, 1f, cue_potted || table.first_hit != aim);
  for (var ball = 0u; ball < BALLS; ball++) {
    (*state).x[ball] = table.place[ball].x;
    (*state).z[ball] = table.place[ball].y;
  }
  (*state).on_table = table.on_table | CUE_BALL;
  return Transition(f32(potted) - foul + distance - after, (*state).on_table == CUE_BALL);
}

/// The speed that an action gives the cue ball: up to an eighth turn off the line to the ball that is aimed at.
fn strike(line: vec2f, action: Action) -> vec2f {
  let turn = sine_cosine((2f * action[0] - 1f) * 0.785398163f);
  let along = line / max(length(line), 1e-6f);
  let speed = FASTEST * (0.1f + 0.9f * action[1]);
  return speed * vec2f(along.x * turn.y - along.y * turn.x, along.x * turn.x + along.y * turn.y);
}

/// The fastest pace, 0 where everything rests. Balls that have come to rest are no longer among the moving.
fn fastest_of(table: ptr<function, Table>) -> f32 {
  var most = 0f;
  for (var bits = (*table).moving; bits != 0u; bits &= bits - 1u) {
    let ball = firstTrailingBit(bits);
    let square = dot((*table).speed[ball], (*table).speed[ball]);
    most = max(most, square);
    (*table).moving &= ~select(0u, 1u << ball, square == 0f);
  }
  return sqrt(most);
}

/// Rolls every ball for a while. `physical` has the way under constant deceleration, `viva` an explicit step of Euler.
fn move_balls(table: ptr<function, Table>, seconds: f32) {
  for (var bits = (*table).moving; bits != 0u; bits &= bits - 1u) {
    let ball = firstTrailingBit(bits);
    let speed = (*table).speed[ball];
    let pace = length(speed);
    let slower = max(pace - DECELERATION * seconds, 0f);
    let rolled = select(
      seconds * pace - 0.5f * DECELERATION * seconds * seconds,
      0.5f * pace * pace / DECELERATION,
      slower == 0f,
    );
    (*table).place[ball] += speed * (select(rolled, seconds * pace, EXPLICIT == 1) / pace);
    (*table).speed[ball] = speed * (slower / pace);
  }
}

/// Pairs of which one at least moved, in order.
fn collide_balls(table: ptr<function, Table>) {
  let moved = (*table).moving;
  for (var ones = (*table).on_table; ones != 0u; ones &= ones - 1u) {
    let one = firstTrailingBit(ones);
    let later = ones & (ones - 1u);
    for (var others = select(later & moved, later, ((moved >> one) & 1u) == 1u); others != 0u; others &= others - 1u) {
      collide_pair(table, one, firstTrailingBit(others));
    }
  }
}

/// A pair that overlaps is pushed apart; where it approaches, both take the same impulse.
fn collide_pair(table: ptr<function, Table>, one: u32, other: u32) {
  let reach = RADIUS + select(RADIUS, CUE_RADIUS, one == 0u);
  let between = (*table).place[other] - (*table).place[one];
  let square = dot(between, between);
  if (square >= reach * reach) {
    return;
  }
  let apart = sqrt(square);
  let normal = select(vec2f(1f, 0f), between / max(apart, 1e-9f), apart > 1e-9f);
  let push = 0.5f * (reach - apart) * normal;
  (*table).place[one] -= push;
  (*table).place[other] += push;
  let approach = dot((*table).speed[one] - (*table).speed[other], normal);
  let impulse = 0.5f * (1f + BALL_RESTITUTION) * max(approach, 0f) * normal;
  (*table).speed[one] -= impulse;
  (*table).speed[other] += impulse;
  (*table).moving |= (1u << one) | (1u << other);
  (*table).first_hit = select((*table).first_hit, other, one == 0u && (*table).first_hit == BALLS);
}

fn leave_table(table: ptr<function, Table>) {
  for (var bits = (*table).moving; bits != 0u; bits &= bits - 1u) {
    let ball = firstTrailingBit(bits);
    let way = to_pocket((*table).place[ball]);
    if (dot(way, way) < POCKET_RADIUS * POCKET_RADIUS) {
      (*table).on_table &= ~(1u << ball);
      (*table).moving &= ~(1u << ball);
    }
  }
}

/// What would be outside comes back from the cushion, as far as the slower way back takes it.
fn meet_cushions(table: ptr<function, Table>) {
  for (var bits = (*table).moving; bits != 0u; bits &= bits - 1u) {
    let ball = firstTrailingBit(bits);
    let bound = HALF - select(RADIUS, CUE_RADIUS, ball == 0u);
    let place = (*table).place[ball];
    let speed = (*table).speed[ball];
    let outward = (abs(place) > bound) & (place * speed > vec2f(0f));
    (*table).speed[ball] = select(speed, -CUSHION_RESTITUTION * speed, outward);
    let side = clamp(place, -bound, bound);
    let back = select(side, side - CUSHION_RESTITUTION * (place - side), outward);
    (*table).place[ball] = clamp(back, -bound, bound);
  }
}
