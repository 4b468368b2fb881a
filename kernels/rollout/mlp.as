// A dense network of its own for every lane. A member's row is copied into its lane, so that the weights of four lanes
// for one product are one load: per layer weights[inputs][⌈outputs⌉₂], then biases, each number of all lanes.

const RELU: u32 = 1;
const TANH: u32 = 2;
const SIGMOID: u32 = 3;
const PAIR: usize = 32;
const BLOCK: usize = 128;
/** Inputs from which on it pays to leave out those that are zero in every lane: pictures are, mostly. */
const SPARSE_FROM: i32 = 64;

let layers: u32 = 0;
let widths: usize = 0; // layers + 1 of 32 bits, input first
let activations: usize = 0; // of each layer
let laneWeights: usize = 0;
let neurons: usize = 0; // two rows
let neuronsBytes: usize = 0; // of a row
let present: usize = 0; // offsets of the inputs that are not zero in every lane

// @ts-ignore: decorator
@inline
function widthOf(layer: u32): usize {
  return load<u32>(widths + <usize>layer * FLOAT);
}

/** Bytes of the outputs of a layer: whole pairs. */
// @ts-ignore: decorator
@inline
function pitchOf(layer: u32): usize {
  return ((widthOf(layer + 1) + 1) & ~1) * VECTOR;
}

/** Copies a row of weights[outputs][inputs] and biases into a lane; false where one is NaN or infinite. */
function loadMember(row: usize, lane: i32): bool {
  let to = laneWeights + <usize>lane * FLOAT;
  let from = row;
  let doubt: f32 = 0;
  for (let layer: u32 = 0; layer < layers; layer++) {
    const inputBytes = widthOf(layer) * FLOAT;
    const outputs = widthOf(layer + 1);
    const pitch = pitchOf(layer);
    for (let input: usize = 0; input < inputBytes; input += FLOAT, to += pitch) {
      let weight = from + input;
      for (let at = to; at < to + outputs * VECTOR; at += VECTOR, weight += inputBytes) {
        const value = load<f32>(weight);
        store<f32>(at, value);
        doubt += value * 0;
      }
    }
    from += inputBytes * outputs;
    for (let at: usize = 0; at < outputs; at++, from += FLOAT) {
      // No sum begins at −0, so that leaving out a product with 0 changes no bit.
      const bias = load<f32>(from) + 0;
      store<f32>(to + at * VECTOR, bias);
      doubt += bias * 0;
    }
    to += pitch;
  }
  return doubt == 0;
}

/** Takes observations through all layers; gives where the outputs stand. */
function applyPolicy(observation: usize): usize {
  let weights = laneWeights;
  let before = observation;
  let after = neurons;
  for (let layer: u32 = 0; layer < layers; layer++) {
    const inner = widthOf(layer);
    const pitch = pitchOf(layer);
    if (OBSERVATION_SIZE >= SPARSE_FROM && layer == 0) applySparse(weights, inner, pitch, before, after);
    else applyDense(weights, inner, pitch, before, after);
    activate(after, pitch, load<u32>(activations + <usize>layer * FLOAT));
    weights += (inner + 1) * pitch;
    before = after;
    after = after == neurons ? neurons + neuronsBytes : neurons;
  }
  return before;
}

/** Sums of one layer, eight outputs at a time and then two. */
function applyDense(weights: usize, inner: usize, pitch: usize, before: usize, after: usize): void {
  const bias = weights + inner * pitch;
  const end = before + inner * VECTOR;
  let at: usize = 0;
  for (; at + BLOCK <= pitch; at += BLOCK) addBlock(weights + at, pitch, bias + at, before, end, after + at);
  for (; at < pitch; at += PAIR) addPair(weights + at, pitch, bias + at, before, end, after + at);
}

/** Eight sums, which are enough to hide how long an addition takes. */
// @ts-ignore: decorator
@inline
function addBlock(weights: usize, pitch: usize, bias: usize, before: usize, end: usize, after: usize): void {
  let row = weights;
  let sum0 = v128.load(bias);
  let sum1 = v128.load(bias, 16);
  let sum2 = v128.load(bias, 32);
  let sum3 = v128.load(bias, 48);
  let sum4 = v128.load(bias, 64);
  let sum5 = v128.load(bias, 80);
  let sum6 = v128.load(bias, 96);
  let sum7 = v128.load(bias, 112);
  for (let neuron = before; neuron < end; neuron += VECTOR) {
    const x = v128.load(neuron);
    sum0 = multiplyAdd(sum0, x, v128.load(row));
    sum1 = multiplyAdd(sum1, x, v128.load(row, 16));
    sum2 = multiplyAdd(sum2, x, v128.load(row, 32));
    sum3 = multiplyAdd(sum3, x, v128.load(row, 48));
    sum4 = multiplyAdd(sum4, x, v128.load(row, 64));
    sum5 = multiplyAdd(sum5, x, v128.load(row, 80));
    sum6 = multiplyAdd(sum6, x, v128.load(row, 96));
    sum7 = multiplyAdd(sum7, x, v128.load(row, 112));
    row += pitch;
  }
  v128.store(after, sum0);
  v128.store(after, sum1, 16);
  v128.store(after, sum2, 32);
  v128.store(after, sum3, 48);
  v128.store(after, sum4, 64);
  v128.store(after, sum5, 80);
  v128.store(after, sum6, 96);
  v128.store(after, sum7, 112);
}

/** Two outputs, each as the sum of even and odd inputs for the same reason. */
// @ts-ignore: decorator
@inline
function addPair(weights: usize, pitch: usize, bias: usize, before: usize, end: usize, after: usize): void {
  let row = weights;
  let sum0 = v128.load(bias);
  let sum1 = v128.load(bias, 16);
  let other0 = f32x4.splat(0);
  let other1 = f32x4.splat(0);
  let neuron = before;
  for (; neuron + PAIR <= end; neuron += PAIR) {
    const x = v128.load(neuron);
    const y = v128.load(neuron, 16);
    const next = row + pitch;
    sum0 = multiplyAdd(sum0, x, v128.load(row));
    sum1 = multiplyAdd(sum1, x, v128.load(row, 16));
    other0 = multiplyAdd(other0, y, v128.load(next));
    other1 = multiplyAdd(other1, y, v128.load(next, 16));
    row = next + pitch;
  }
  if (neuron < end) {
    sum0 = multiplyAdd(sum0, v128.load(neuron), v128.load(row));
    sum1 = multiplyAdd(sum1, v128.load(neuron), v128.load(row, 16));
  }
  v128.store(after, f32x4.add(sum0, other0));
  v128.store(after, f32x4.add(sum1, other1), 16);
}

/** The same sums without inputs that are zero in every lane. */
function applySparse(weights: usize, inner: usize, pitch: usize, before: usize, after: usize): void {
  const bias = weights + inner * pitch;
  let last = present;
  for (let input: usize = 0; input < inner; input++) {
    store<u32>(last, <u32>input);
    last += v128.any_true(f32x4.ne(v128.load(before + input * VECTOR), f32x4.splat(0))) ? FLOAT : 0;
  }
  let at: usize = 0;
  for (; at + BLOCK <= pitch; at += BLOCK) {
    let sum0 = v128.load(bias + at);
    let sum1 = v128.load(bias + at, 16);
    let sum2 = v128.load(bias + at, 32);
    let sum3 = v128.load(bias + at, 48);
    let sum4 = v128.load(bias + at, 64);
    let sum5 = v128.load(bias + at, 80);
    let sum6 = v128.load(bias + at, 96);
    let sum7 = v128.load(bias + at, 112);
    for (let item = present; item < last; item += FLOAT) {
      const input = <usize>load<u32>(item);
      const x = v128.load(before + input * VECTOR);
      const row = weights + at + input * pitch;
      sum0 = multiplyAdd(sum0, x, v128.load(row));
      sum1 = multiplyAdd(sum1, x, v128.load(row, 16));
      sum2 = multiplyAdd(sum2, x, v128.load(row, 32));
      sum3 = multiplyAdd(sum3, x, v128.load(row, 48));
      sum4 = multiplyAdd(sum4, x, v128.load(row, 64));
      sum5 = multiplyAdd(sum5, x, v128.load(row, 80));
      sum6 = multiplyAdd(sum6, x, v128.load(row, 96));
      sum7 = multiplyAdd(sum7, x, v128.load(row, 112));
    }
    v128.store(after + at, sum0);
    v128.store(after + at, sum1, 16);
    v128.store(after + at, sum2, 32);
    v128.store(after + at, sum3, 48);
    v128.store(after + at, sum4, 64);
    v128.store(after + at, sum5, 80);
    v128.store(after + at, sum6, 96);
    v128.store(after + at, sum7, 112);
  }
  for (; at < pitch; at += PAIR) addPair(weights + at, pitch, bias + at, before, before + inner * VECTOR, after + at);
}

function activate(row: usize, sizeBytes: usize, activation: u32): void {
  const end = row + sizeBytes;
  if (activation == RELU) {
    for (let at = row; at < end; at += VECTOR) v128.store(at, f32x4.max(v128.load(at), f32x4.splat(0)));
  } else if (activation == TANH) {
    for (let at = row; at < end; at += VECTOR) v128.store(at, hyperbolicTangent(v128.load(at)));
  } else if (activation == SIGMOID) {
    const half = f32x4.splat(0.5);
    for (let at = row; at < end; at += VECTOR) {
      v128.store(at, multiplyAdd(half, half, hyperbolicTangent(f32x4.mul(half, v128.load(at)))));
    }
  }
}
