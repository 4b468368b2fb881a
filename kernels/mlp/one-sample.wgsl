// A whole dense network in one dispatch, one sample a group and four neurons a lane: for small batches.

struct Shape { batch: u32, inputs: u32, hidden: u32, outputs: u32, layers: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> widths: array<u32>; // layers + 1
@group(0) @binding(2) var<storage, read> parameters: array<vec4<f32>>; // per layer: weights[⌈in⌉₄][⌈out⌉₄], bias[⌈out⌉₄]
@group(0) @binding(3) var<storage, read> input: array<vec4<f32>>; // batch × ⌈inputs⌉₄
@group(0) @binding(4) var<storage, read_write> output: array<vec4<f32>>; // batch × ⌈outputs⌉₄

override lanes: u32 = 16;
override width: u32; // of the widest layer, a multiple of 4
override activation: u32;

var<workgroup> neurons: array<vec4<f32>, width / 2u>; // four neurons each; of the layer before and of this one

// Beyond 10, tanh is 1 in f32, while one that is built from exp may overflow.
fn activate(x: vec4<f32>) -> vec4<f32> {
  switch activation {
    case 2u: { return max(x, vec4<f32>()); }
    case 3u: { return tanh(clamp(x, vec4<f32>(-10.0), vec4<f32>(10.0))); }
    default: { return x; }
  }
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let inputs = (shape.inputs + 3u) / 4u;
  for (var i = lane.x; i < inputs; i += lanes) {
    neurons[i] = input[group.x * inputs + i];
  }
  workgroupBarrier();

  var before = 0u;
  var weights = 0u;
  for (var layer = 0u; layer < shape.layers; layer++) {
    let inner = (widths[layer] + 3u) / 4u;
    let outer = (widths[layer + 1u] + 3u) / 4u;
    let bias = weights + 4u * inner * outer;
    let after = width / 4u - before;
    for (var quad = lane.x; quad < outer; quad += lanes) {
      var sum = parameters[bias + quad];
      for (var i = 0u; i < inner; i++) {
        let at = weights + 4u * i * outer + quad;
        let x = neurons[before + i];
        sum = fma(x.xxxx, parameters[at], sum);
        sum = fma(x.yyyy, parameters[at + outer], sum);
        sum = fma(x.zzzz, parameters[at + 2u * outer], sum);
        sum = fma(x.wwww, parameters[at + 3u * outer], sum);
      }
      if (layer + 1u < shape.layers) {
        sum = activate(sum);
      }
      neurons[after + quad] = sum;
    }
    weights = bias + outer;
    before = after;
    workgroupBarrier();
  }

  let outputs = (shape.outputs + 3u) / 4u;
  for (var i = lane.x; i < outputs; i += lanes) {
    output[group.x * outputs + i] = neurons[before + i];
  }
}
