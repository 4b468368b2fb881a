// A whole dense network in one dispatch, one sample a group: for batches too small to fill a vector.

struct Shape { batch: u32, inputs: u32, hidden: u32, outputs: u32, layers: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> widths: array<u32>; // layers + 1
@group(0) @binding(2) var<storage, read> parameters: array<f32>; // per layer: weights[in][out], bias[out]
@group(0) @binding(3) var<storage, read> input: array<f32>; // batch × inputs
@group(0) @binding(4) var<storage, read_write> output: array<f32>; // batch × outputs

override lanes: u32 = 64;
override width: u32; // of the widest layer
override activation: u32;

var<workgroup> neurons: array<f32, 2u * width>; // of the layer before and of this one

fn activate(x: f32) -> f32 {
  switch activation {
    case 2u: { return max(x, 0.0); }
    case 3u: { return tanh(x); }
    default: { return x; }
  }
}

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  for (var i = lane.x; i < shape.inputs; i += lanes) {
    neurons[i] = input[group.x * shape.inputs + i];
  }
  workgroupBarrier();

  var source = 0u;
  var weights = 0u;
  for (var layer = 0u; layer < shape.layers; layer++) {
    let inner = widths[layer];
    let outer = widths[layer + 1u];
    let bias = weights + inner * outer;
    for (var neuron = lane.x; neuron < outer; neuron += lanes) {
      var sum = parameters[bias + neuron];
      for (var i = 0u; i < inner; i++) {
        sum = fma(parameters[weights + i * outer + neuron], neurons[source + i], sum);
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

  for (var i = lane.x; i < shape.outputs; i += lanes) {
    output[group.x * shape.outputs + i] = neurons[source + i];
  }
}
