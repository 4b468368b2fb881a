// A whole dense network in one dispatch: each group takes four samples through all layers. A lane works
// on four neurons × four samples, so that each load feeds four multiplications. The activation is in ../mlp/activate.wgsl.

struct Shape { batch: u32, inputs: u32, hidden: u32, outputs: u32, layers: u32, activation: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> widths: array<u32>; // layers + 1
@group(0) @binding(2) var<storage, read> parameters: array<vec4<f32>>; // per layer: weights[⌈in⌉₄][⌈out⌉₄], bias[⌈out⌉₄]
@group(0) @binding(3) var<storage, read> input: array<vec4<f32>>; // batch × ⌈inputs⌉₄
@group(0) @binding(4) var<storage, read_write> output: array<vec4<f32>>; // batch × ⌈outputs⌉₄

override lanes: u32 = 16;
override width: u32; // of the widest layer, a multiple of 4

alias Value = vec4<f32>;

var<workgroup> neurons: array<vec4<f32>, 2u * width>; // four samples each; of the layer before and of this one

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let sample = 4u * group.x;
  let inputs = (shape.inputs + 3u) / 4u;
  // A group that hangs over the batch's end repeats the last sample and does not store it.
  let rows = min(sample + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(shape.batch - 1u)) * inputs;
  for (var i = lane.x; i < inputs; i += lanes) {
    let block = transpose(mat4x4<f32>(input[rows.x + i], input[rows.y + i], input[rows.z + i], input[rows.w + i]));
    neurons[4u * i] = block[0];
    neurons[4u * i + 1u] = block[1];
    neurons[4u * i + 2u] = block[2];
    neurons[4u * i + 3u] = block[3];
  }
  workgroupBarrier();

  var before = 0u;
  var weights = 0u;
  for (var layer = 0u; layer < shape.layers; layer++) {
    let inner = (widths[layer] + 3u) / 4u * 4u;
    let outer = (widths[layer + 1u] + 3u) / 4u;
    let bias = weights + inner * outer;
    let after = width - before;
    for (var quad = lane.x; quad < outer; quad += lanes) {
      let start = parameters[bias + quad];
      var sum0 = start.xxxx;
      var sum1 = start.yyyy;
      var sum2 = start.zzzz;
      var sum3 = start.wwww;
      for (var i = 0u; i < inner; i++) {
        let w = parameters[weights + i * outer + quad];
        let x = neurons[before + i];
        sum0 = fma(w.xxxx, x, sum0);
        sum1 = fma(w.yyyy, x, sum1);
        sum2 = fma(w.zzzz, x, sum2);
        sum3 = fma(w.wwww, x, sum3);
      }
      if (layer + 1u < shape.layers) {
        sum0 = activate(sum0);
        sum1 = activate(sum1);
        sum2 = activate(sum2);
        sum3 = activate(sum3);
      }
      neurons[after + 4u * quad] = sum0;
      neurons[after + 4u * quad + 1u] = sum1;
      neurons[after + 4u * quad + 2u] = sum2;
      neurons[after + 4u * quad + 3u] = sum3;
    }
    weights = bias + outer;
    before = after;
    workgroupBarrier();
  }

  let outputs = (shape.outputs + 3u) / 4u;
  let kept = min(4u, shape.batch - sample);
  for (var i = lane.x; i < outputs; i += lanes) {
    let at = before + 4u * i;
    let block = transpose(mat4x4<f32>(neurons[at], neurons[at + 1u], neurons[at + 2u], neurons[at + 3u]));
    for (var row = 0u; row < kept; row++) {
      output[(sample + row) * outputs + i] = block[row];
    }
  }
}
