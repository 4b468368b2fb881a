// Steps of in-slices.wgsl in floats.

alias Four = vec4<f32>;
alias Fours = Block;

fn addStep(sum: Block, a: Fours, b: Fours, k: u32, column: u32) -> Block { return addProduct(sum, a, b); }
