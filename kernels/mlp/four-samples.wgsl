// A whole dense network in one dispatch: each group takes four samples through all layers. Lanes run
// along the neurons, the four samples are the components of a vector, so a weight is read once for four.

struct Shape { batch: u32, inputs: u32, hidden: u32, outputs: u32, layers: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> widths: array<u32>; // layers + 1
@group(0) @binding(2) var<storage, read> parameters: array<f32>; // per layer: weights[in][out], bias[out]
@group(0) @binding(3) var<storage, read> input: array<f32>; // batch × inputs
@group(0) @binding(4) var<storage, read_write> output: array<f32>; // batch × outputs

override lanes: u32 = 64;
override width: u32; // of the widest layer
override activation: u32;

var<workgroup> neurons: array<vec4<f32>, 2u * width>; // of the layer before and of this one

fn activate(x: vec4<f32>) -> vec4<f32> {
  switch activation {
    case 2u: { return max(x, vec4<f32>()); }
    case 3u: { return tanh(x); }
    default: { return x; }
  }
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let sample = 4u * group.x;
  let rows = min(sample + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(shape.batch - 1u));

  for (var i = lane.x; i < shape.inputs; i += lanes) {
    let at = rows * shape.inputs + i;
    neurons[i] = vec4<f32>(input[at.x], input[at.y], input[at.z], input[at.w]);
  }
  workgroupBarrier();

  var source = 0u;
  var weights = 0u;
  for (var layer = 0u; layer < shape.layers; layer++) {
    let inner = widths[layer];
    let outer = widths[layer + 1u];
    let bias = weights + inner * outer;
    for (var neuron = lane.x; neuron < outer; neuron += lanes) {
      var sum = vec4<f32>(parameters[bias + neuron]);
      for (var i = 0u; i < inner; i++) {
        sum = fma(vec4<f32>(parameters[weights + i * outer + neuron]), neurons[source + i], sum);
      }
      if (layer + 1u < shape.layers) {
        sum = activate(sum);
      }
      neurons[width - source + neuron] = sum;
    }
    weights = bias + outer;
    source = width - source;
    workgroupBarrier();
  }

  let kept = min(4u, shape.batch - sample);
  for (var i = lane.x; i < kept * shape.outputs; i += lanes) {
    output[sample * shape.outputs + i] = neurons[source + i % shape.outputs][i / shape.outputs];
  }
}
