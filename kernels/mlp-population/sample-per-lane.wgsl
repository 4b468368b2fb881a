// A network of its own for each member, one sample an invocation: nobody waits. Layers are read from one half of
// the sample's neurons in storage and written to the other in turn. The activation is in ../mlp/activate.wgsl.

struct Shape { members: u32, samples: u32, inputs: u32, hidden: u32, outputs: u32, layers: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> widths: array<u32>; // layers + 1
@group(0) @binding(2) var<storage, read> parameters: array<vec4<f32>>; // per member and layer: weights[⌈in⌉₄][⌈out⌉₄], bias[⌈out⌉₄]
@group(0) @binding(3) var<storage, read> input: array<vec4<f32>>; // members × samples × ⌈inputs⌉₄
@group(0) @binding(4) var<storage, read_write> neurons: array<vec4<f32>>; // members × samples × 2 × width
@group(0) @binding(5) var<storage, read_write> output: array<vec4<f32>>; // members × samples × ⌈outputs⌉₄

override lanes: u32 = 16;
override width: u32; // of the widest layer, a multiple of 4

alias Value = vec4<f32>;

// A layer's sum for four neurons: a network's weights are walked column by column of vectors.
fn addUp(start: vec4<f32>, x: vec4<f32>, at: u32, outer: u32) -> vec4<f32> {
  let two = fma(x.yyyy, parameters[at + outer], fma(x.xxxx, parameters[at], start));
  return fma(x.wwww, parameters[at + 3u * outer], fma(x.zzzz, parameters[at + 2u * outer], two));
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let inputs = (shape.inputs + 3u) / 4u;
  let outputs = (shape.outputs + 3u) / 4u;
  let each = arrayLength(&parameters) / shape.members;
  for (var item = at.x; item < shape.members * shape.samples; item += groups.x * lanes) {
    let own = item * (width / 2u);
    for (var i = 0u; i < inputs; i++) {
      neurons[own + i] = input[item * inputs + i];
    }
    var before = 0u;
    var weights = item / shape.samples * each;
    for (var layer = 0u; layer < shape.layers; layer++) {
      let inner = (widths[layer] + 3u) / 4u;
      let outer = (widths[layer + 1u] + 3u) / 4u;
      let bias = weights + 4u * inner * outer;
      let after = width / 4u - before;
      for (var quad = 0u; quad < outer; quad++) {
        var sum = parameters[bias + quad];
        for (var i = 0u; i < inner; i++) {
          sum = addUp(sum, neurons[own + before + i], weights + 4u * i * outer + quad, outer);
        }
        if (layer + 1u < shape.layers) {
          sum = activate(sum);
        }
        neurons[own + after + quad] = sum;
      }
      weights = bias + outer;
      before = after;
    }
    for (var i = 0u; i < outputs; i++) {
      output[item * outputs + i] = neurons[own + before + i];
    }
  }
}
