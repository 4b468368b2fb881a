// Random words as they were recorded, in place of philox.wgsl: `plan.tape_blocks` blocks for each step of each episode.

struct Random {
  key: vec2u,
  member: u32,
  episode: u32,
  step: u32,
  draw: u32,
}

@group(0) @binding(5) var<storage, read> tape: array<vec4u>;

fn draw_words(random: ptr<function, Random>) -> vec4u {
  let block = ((*random).episode * plan.steps + (*random).step - 1u) * plan.tape_blocks + (*random).draw;
  (*random).draw += 1u;
  return tape[block];
}
