// Rigid bodies in a vertical plane, joined by hinges into a tree, above flat ground at height 0. Each substep predicts
// places and then corrects them until joints hold, angles are within limits and feet above the ground (Müller et al.,
// "Detailed rigid body simulation with extended position based dynamics", SCA 2020). What corrects a place corrects its
// speed, so that momentum is kept. The model is in constants, which planar-model.ts writes; angles are counter-clockwise
// with x to the right. The twin is planar-body.reference.ts.

const FREEDOMS = 3u + JOINTS;

/// Of its centre of mass: m, radians, and those per second.
struct Body {
  x: f32,
  z: f32,
  angle: f32,
  x_speed: f32,
  z_speed: f32,
  spin: f32,
}

struct State {
  bodies: array<Body, BODIES>,
}

var<private> bodies: array<Body, BODIES>;
/// Impulses that each foot has had in a substep, from below and along the ground.
var<private> pressed: array<f32, FEET>;
var<private> dragged: array<f32, FEET>;

// Constants that are indexed by what is known at run time only would be copied at every use.
var<private> lightnesses: array<f32, BODIES> = LIGHTNESSES; // 1/kg
/// What torques on bodies do to their spins, row by row.
var<private> turning: array<f32, BODIES * BODIES> = TURNING;
var<private> parents: array<u32, JOINTS> = PARENTS;
var<private> parent_arms: array<vec2f, JOINTS> = PARENT_ARMS;
var<private> child_arms: array<vec2f, JOINTS> = CHILD_ARMS;
var<private> limits: array<vec2f, JOINTS> = LIMITS;
var<private> gears: array<f32, JOINTS> = GEARS; // N·m
var<private> dampings: array<f32, JOINTS> = DAMPINGS; // N·m·s
var<private> stiffnesses: array<f32, JOINTS> = STIFFNESSES; // N·m
var<private> foot_bodies: array<u32, FEET> = FOOT_BODIES;
var<private> foot_arms: array<vec2f, FEET> = FOOT_ARMS;
var<private> foot_radii: array<f32, FEET> = FOOT_RADII;

fn rotate(arm: vec2f, angle: f32) -> vec2f {
  let turn = sine_cosine(angle);
  return vec2f(turn.y * arm.x - turn.x * arm.y, turn.x * arm.x + turn.y * arm.y);
}

fn turning_of(row: u32, column: u32) -> f32 {
  return turning[row * BODIES + column];
}

/// What a torque between both bodies of a joint does to the speed between them.
fn give(joint: u32) -> f32 {
  let parent = parents[joint];
  let child = joint + 1u;
  return turning_of(parent, parent) + turning_of(child, child) - 2f * turning_of(parent, child);
}

/// Moments on two bodies: spins of all, and angles by as much as in the time. Functions are compiled anew at every use,
/// so that there are few.
fn twist(first: u32, second: u32, moments: vec2f, time: f32) {
  for (var other = 0u; other < BODIES; other++) {
    let gain = turning_of(other, first) * moments.x + turning_of(other, second) * moments.y;
    bodies[other].spin += gain;
    bodies[other].angle += time * gain;
  }
}

/// An impulse on a body without its moment: speeds, and places by as much as in the time.
fn push(body: u32, impulse: vec2f, time: f32) {
  let gain = lightnesses[body] * impulse;
  bodies[body].x_speed += gain.x;
  bodies[body].z_speed += gain.y;
  bodies[body].x += time * gain.x;
  bodies[body].z += time * gain.y;
}

fn drive_joint(joint: u32, effort: f32) {
  let parent = parents[joint];
  let child = joint + 1u;
  let speed = bodies[child].spin - bodies[parent].spin;
  let angle = bodies[child].angle - bodies[parent].angle;
  // Spring and damper by the speed that they lead to, so that no stiffness is too much.
  let stiffness = stiffnesses[joint];
  let torque = gears[joint] * clamp(effort, -1f, 1f) - stiffness * (angle + SECONDS * speed) - dampings[joint] * speed;
  let moment = SECONDS * torque / (1f + SECONDS * (dampings[joint] + SECONDS * stiffness) * give(joint));
  twist(parent, child, vec2f(-moment, moment), 0f);
}

fn limit_joint(joint: u32) {
  let parent = parents[joint];
  let child = joint + 1u;
  let angle = bodies[child].angle - bodies[parent].angle;
  let excess = clamp(angle, limits[joint].x, limits[joint].y) - angle;
  if (excess != 0f) {
    let moment = excess / (SECONDS * give(joint));
    twist(parent, child, vec2f(-moment, moment), SECONDS);
  }
}

fn close_joint(joint: u32) {
  let parent = parents[joint];
  let child = joint + 1u;
  let a = rotate(parent_arms[joint], bodies[parent].angle);
  let b = rotate(child_arms[joint], bodies[child].angle);
  let gap = vec2f(bodies[child].x - bodies[parent].x, bodies[child].z - bodies[parent].z) + b - a;
  let aa = turning_of(parent, parent);
  let ab = turning_of(parent, child);
  let bb = turning_of(child, child);
  let light = lightnesses[parent] + lightnesses[child];
  let xx = light + bb * b.y * b.y - 2f * ab * a.y * b.y + aa * a.y * a.y;
  let xz = -bb * b.x * b.y + ab * (a.y * b.x + a.x * b.y) - aa * a.x * a.y;
  let zz = light + bb * b.x * b.x - 2f * ab * a.x * b.x + aa * a.x * a.x;
  let impulse = -vec2f(zz * gap.x - xz * gap.y, xx * gap.y - xz * gap.x) / (SECONDS * (xx * zz - xz * xz));
  push(child, impulse, SECONDS);
  push(parent, -impulse, SECONDS);
  let moments = vec2f(a.y * impulse.x - a.x * impulse.y, b.x * impulse.y - b.y * impulse.x);
  twist(parent, child, moments, SECONDS);
}

/// Out of the ground first, then back by what it slips, as far as friction holds it.
fn hold_foot(foot: u32) {
  let body = foot_bodies[foot];
  let arm = rotate(foot_arms[foot], bodies[body].angle);
  let sole = arm.y - foot_radii[foot];
  let depth = -bodies[body].z - sole;
  if (depth <= 0f) {
    return;
  }
  let own = turning_of(body, body);
  let up = depth / (SECONDS * (lightnesses[body] + own * arm.x * arm.x));
  pressed[foot] += up;
  for (var axis = 0u; axis < 2u; axis++) {
    var impulse = vec2f(0f, up);
    if (axis == 1u) {
      let slip = bodies[body].x_speed - sole * bodies[body].spin;
      let before = dragged[foot];
      let bound = FRICTION * pressed[foot];
      dragged[foot] = clamp(before - slip / (lightnesses[body] + own * sole * sole), -bound, bound);
      impulse = vec2f(dragged[foot] - before, 0f);
    }
    push(body, impulse, SECONDS);
    twist(body, body, vec2f(arm.x * impulse.y - sole * impulse.x, 0f), SECONDS);
  }
}

/// Being pushed out of the ground is no jump.
fn settle_foot(foot: u32) {
  let body = foot_bodies[foot];
  let arm = rotate(foot_arms[foot], bodies[body].angle);
  let rise = bodies[body].z_speed + arm.x * bodies[body].spin;
  if (pressed[foot] > 0f && rise > 0f) {
    let down = -rise / (lightnesses[body] + turning_of(body, body) * arm.x * arm.x);
    push(body, vec2f(0f, down), 0f);
    twist(body, body, vec2f(arm.x * down, 0f), 0f);
  }
}

fn move_on(action: Action) {
  for (var body = 0u; body < BODIES; body++) {
    bodies[body].z_speed -= SECONDS * GRAVITY;
  }
  for (var joint = 0u; joint < JOINTS; joint++) {
    drive_joint(joint, action[joint]);
  }
  for (var body = 0u; body < BODIES; body++) {
    bodies[body].x += SECONDS * bodies[body].x_speed;
    bodies[body].z += SECONDS * bodies[body].z_speed;
    bodies[body].angle += SECONDS * bodies[body].spin;
  }
  pressed = array<f32, FEET>();
  dragged = array<f32, FEET>();
  for (var round = 0u; round < ROUNDS; round++) {
    for (var foot = 0u; foot < FEET; foot++) {
      hold_foot(foot);
    }
    for (var joint = 0u; joint < JOINTS; joint++) {
      limit_joint(joint);
      close_joint(joint);
    }
  }
  for (var foot = 0u; foot < FEET; foot++) {
    settle_foot(foot);
  }
}

/// Moves a state on and gives how far the first body came, m. All are moved back by as much: a float is finest at 0.
fn move_bodies(state: ptr<function, State>, action: Action) -> f32 {
  bodies = (*state).bodies;
  for (var substep = 0u; substep < SUBSTEPS; substep++) {
    move_on(action);
  }
  let way = bodies[0].x;
  for (var body = 0u; body < BODIES; body++) {
    bodies[body].x -= way;
  }
  (*state).bodies = bodies;
  return way;
}

/// A state from the place and angle of the first body, the angles between the others, and the speeds of all these;
/// lifted where it would begin in the ground.
fn pose(places: array<f32, FREEDOMS>, speeds: array<f32, FREEDOMS>) -> State {
  bodies[0] = Body(places[0], places[1], places[2], speeds[0], speeds[1], speeds[2]);
  for (var joint = 0u; joint < JOINTS; joint++) {
    let parent = bodies[parents[joint]];
    let angle = parent.angle + places[3u + joint];
    let spin = parent.spin + speeds[3u + joint];
    let a = rotate(parent_arms[joint], parent.angle);
    let b = rotate(child_arms[joint], angle);
    bodies[joint + 1u] = Body(
      parent.x + a.x - b.x,
      parent.z + a.y - b.y,
      angle,
      parent.x_speed - a.y * parent.spin + b.y * spin,
      parent.z_speed + a.x * parent.spin - b.x * spin,
      spin,
    );
  }
  var sunk = 0f;
  for (var foot = 0u; foot < FEET; foot++) {
    let body = bodies[foot_bodies[foot]];
    sunk = max(sunk, foot_radii[foot] - body.z - rotate(foot_arms[foot], body.angle).y);
  }
  for (var body = 0u; body < BODIES; body++) {
    bodies[body].z += sunk;
  }
  return State(bodies);
}

/// Height, angles and speeds as `pose` takes them, less the place along the ground.
fn read_bodies(state: State) -> array<f32, 2u * FREEDOMS - 1u> {
  const SPEEDS_AT = FREEDOMS - 1u;
  bodies = state.bodies;
  var numbers: array<f32, 2u * FREEDOMS - 1u>;
  numbers[0] = bodies[0].z;
  numbers[1] = bodies[0].angle;
  numbers[SPEEDS_AT] = bodies[0].x_speed;
  numbers[SPEEDS_AT + 1u] = bodies[0].z_speed;
  numbers[SPEEDS_AT + 2u] = bodies[0].spin;
  for (var joint = 0u; joint < JOINTS; joint++) {
    let parent = bodies[parents[joint]];
    let child = bodies[joint + 1u];
    numbers[2u + joint] = child.angle - parent.angle;
    numbers[SPEEDS_AT + 3u + joint] = child.spin - parent.spin;
  }
  return numbers;
}
