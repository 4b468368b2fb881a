// A network of its own for each member. The body is ../mlp/sample-per-group.wgsl, with ../mlp/activate.wgsl.

struct Shape { members: u32, samples: u32, inputs: u32, hidden: u32, outputs: u32, layers: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> widths: array<u32>; // layers + 1
@group(0) @binding(2) var<storage, read> parameters: array<vec4<f32>>; // per member and layer: weights[⌈in⌉₄][⌈out⌉₄], bias[⌈out⌉₄]
@group(0) @binding(3) var<storage, read> input: array<vec4<f32>>; // members × samples × ⌈inputs⌉₄
@group(0) @binding(4) var<storage, read_write> scratch: array<vec4<f32>>; // of the other variant
@group(0) @binding(5) var<storage, read_write> output: array<vec4<f32>>; // members × samples × ⌈outputs⌉₄

fn findItem(group: vec3<u32>) -> u32 { return group.x * shape.samples + group.y; }
fn findNetwork(group: vec3<u32>) -> u32 { return group.x * (arrayLength(&parameters) / shape.members); }
