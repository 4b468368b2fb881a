// A whole dense network in one dispatch, one sample a group and four neurons a lane.
//
// The kernel's own file has the bindings, findItem(group), the sample among all, and findNetwork(group), where the
// parameters of its network begin. activate.wgsl has the activation.

override lanes: u32 = 16;
override width: u32; // of the widest layer, a multiple of 4

alias Value = vec4<f32>;

var<workgroup> neurons: array<vec4<f32>, width / 2u>; // four neurons each; of the layer before and of this one

@compute @workgroup_size(lanes)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let item = findItem(group);
  let inputs = (shape.inputs + 3u) / 4u;
  for (var i = lane.x; i < inputs; i += lanes) {
    neurons[i] = input[item * inputs + i];
  }
  workgroupBarrier();

  var before = 0u;
  var weights = findNetwork(group);
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
    output[item * outputs + i] = neurons[before + i];
  }
}
