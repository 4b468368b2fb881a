// One invocation for each episode of each member: policy and environment take up to `plan.steps` steps together, and
// what is to go on is kept in storage until the next dispatch. Only episodes in play are dispatched: each one has a slot,
// and those that go on put theirs on the list of the next dispatch. The order of a list is nobody's concern, since what
// becomes of an episode depends on its seed, its member and its number alone.

struct Plan {
  /// Of this part of the population.
  members: u32,
  first_member: u32,
  parameters: u32,
  episodes: u32,
  first_episode: u32,
  seed: u32,
  step_limit: u32,
  steps: u32,
  common_random: u32, // 1: the same draws for the same episode of every member
  play_lanes: u32, // of a workgroup of `play`
}

/// What became of an episode so far.
struct Outcome {
  total: f32,
  length: u32,
  cause: u32,
}

/// Two lists that take turns, one behind the other in `slots`: the one that is read, and how many are on each.
struct Lists {
  counts: array<atomic<u32>, 2>,
  turn: u32,
}

/// Workgroups of the next dispatch, and the episodes that they are for.
struct Groups {
  x: u32,
  y: u32,
  z: u32,
  playing: u32,
}

const TERMINATED = 1u;
const TRUNCATED = 2u;
const FAILED = 4u;
const BAD_REWARD = 8u;

/// Draws of environments.
const ENVIRONMENT_STREAM = 1u;

const MOST_WORKGROUPS = 65535u;

override lanes = 64u;

@group(0) @binding(0) var<uniform> plan: Plan;
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read_write> states: array<State>;
@group(0) @binding(3) var<storage, read_write> outcomes: array<Outcome>;
@group(0) @binding(4) var<storage, read_write> slots: array<u32>;
@group(0) @binding(5) var<storage, read_write> lists: Lists;
/// 1 for each member with a weight that is NaN or infinite.
@group(0) @binding(6) var<storage, read_write> unsound: array<u32>;
@group(0) @binding(7) var<storage, read_write> groups: Groups;
/// What `keep_measures` writes.
@group(0) @binding(8) var<storage, read_write> behaviours: array<f32>;

fn random_at(member: u32, episode: u32, step: u32) -> Random {
  let own = select(plan.first_member + member, 0u, plan.common_random == 1u);
  return Random(vec2u(plan.seed, ENVIRONMENT_STREAM), own, plan.first_episode + episode, step, 0u);
}

fn are_finite(outputs: Outputs) -> bool {
  var finite = true;
  for (var index = 0u; index < OUTPUTS; index++) {
    finite = finite && is_finite(outputs[index]);
  }
  return finite;
}

@compute @workgroup_size(lanes)
fn check_weights(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= plan.members) {
    return;
  }
  var bad = 0u;
  for (var parameter = 0u; parameter < plan.parameters; parameter++) {
    bad |= select(1u, 0u, is_finite(weights[parameter * plan.members + id.x]));
  }
  unsound[id.x] = bad;
}

@compute @workgroup_size(lanes)
fn begin(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) size: vec3u) {
  let slot = id.x + id.y * size.x * lanes;
  if (slot >= plan.members * plan.episodes) {
    return;
  }
  let member = slot % plan.members;
  if (unsound[member] == 1u) {
    outcomes[slot] = Outcome(0f, 0u, FAILED);
    return;
  }
  outcomes[slot] = Outcome(0f, 0u, 0u);
  // Step 0 is the reset; the first step has number 1.
  var random = random_at(member, slot / plan.members, 0u);
  states[slot] = reset(&random);
  slots[atomicAdd(&lists.counts[0], 1u)] = slot;
}

/// Between dispatches: the list that was written is read next.
@compute @workgroup_size(1)
fn take_turns() {
  let written = 1u - lists.turn;
  let playing = atomicLoad(&lists.counts[written]);
  lists.turn = written;
  atomicStore(&lists.counts[1u - written], 0u);
  let needed = (playing + plan.play_lanes - 1u) / plan.play_lanes;
  let rows = max((needed + MOST_WORKGROUPS - 1u) / MOST_WORKGROUPS, 1u);
  groups = Groups((needed + rows - 1u) / rows, rows, 1u, playing);
}

@compute @workgroup_size(lanes)
fn play(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) size: vec3u) {
  let half = plan.members * plan.episodes;
  let turn = lists.turn;
  let place = id.x + id.y * size.x * lanes;
  if (place >= atomicLoad(&lists.counts[turn])) {
    return;
  }
  let slot = slots[turn * half + place];
  let member = slot % plan.members;
  let episode = slot / plan.members;
  var outcome = outcomes[slot];
  var state = states[slot];
  for (var taken = 0u; taken < plan.steps && outcome.cause == 0u; taken++) {
    let outputs = apply_policy(member, observe(state));
    if (!are_finite(outputs)) {
      outcome.cause = FAILED;
      break;
    }
    outcome.length++;
    var random = random_at(member, episode, outcome.length);
    let transition = step(&state, choose_action(outputs), &random);
    let total = outcome.total + transition.reward;
    if (is_finite(total)) {
      outcome.total = total;
      outcome.cause = select(0u, TERMINATED, transition.terminated) |
        select(0u, TRUNCATED, outcome.length >= plan.step_limit);
    } else {
      outcome.cause = FAILED | BAD_REWARD;
    }
  }
  outcomes[slot] = outcome;
  if (outcome.cause == 0u) {
    states[slot] = state;
    slots[(1u - turn) * half + atomicAdd(&lists.counts[1u - turn], 1u)] = slot;
  } else if (outcome.cause < FAILED) {
    keep_measures(slot, state);
  }
}
