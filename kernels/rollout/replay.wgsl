// An environment by itself: from given states or those that it begins with, through given actions, every state and reward kept, so that its steps can
// be compared with another implementation of it.

struct Replay {
  episodes: u32,
  steps: u32,
  seed: u32,
  tape_blocks: u32, // of each step, where draws are read from a tape
  given: u32, // episodes whose first states are given; the others begin by `reset`
}

override lanes = 16u;

@group(0) @binding(0) var<uniform> plan: Replay;
/// One action a step: an index, or OUTPUTS numbers; episodes × steps × numbers.
@group(0) @binding(1) var<storage, read> actions: array<f32>;
/// States before the first step and after each: episodes × (steps + 1).
@group(0) @binding(2) var<storage, read_write> states: array<State>;
/// Reward, and 1 where the environment ended: episodes × steps.
@group(0) @binding(3) var<storage, read_write> transitions: array<vec2f>;

/// What is shown before the first step and after each: episodes × (steps + 1).
@group(0) @binding(4) var<storage, read_write> observations: array<Observation>;

@compute @workgroup_size(lanes)
fn replay(@builtin(global_invocation_id) id: vec3u) {
  let episode = id.x;
  if (episode >= plan.episodes) {
    return;
  }
  let first = episode * (plan.steps + 1u);
  var state = states[first];
  if (episode >= plan.given) {
    var random = Random(vec2u(plan.seed, 1u), 0u, episode, 0u, 0u);
    state = reset(&random);
    states[first] = state;
  }
  observations[first] = observe(state);
  for (var taken = 0u; taken < plan.steps; taken++) {
    var random = Random(vec2u(plan.seed, 1u), 0u, episode, taken + 1u, 0u);
    let transition = step(&state, read_action(episode * plan.steps + taken), &random);
    states[first + taken + 1u] = state;
    observations[first + taken + 1u] = observe(state);
    transitions[episode * plan.steps + taken] = vec2f(transition.reward, select(0f, 1f, transition.terminated));
  }
}
