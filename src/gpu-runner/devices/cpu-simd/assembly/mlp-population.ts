// AssemblyScript. A separate network for each member, four neurons per vector: the twin of the kernel `mlp-population`,
// with the same parameter layout. Every thread has its own instance on the shared memory.

const RELU = 2;
const TANH = 3;
/** Bytes of a float, of a vector of four, and of eight vectors. */
const FLOAT: usize = 4;
const VECTOR: usize = 16;
const BLOCK: usize = 128;

/** Limit beyond which the quotient below is no better than 1. */
const TANH_LIMIT: f32 = 7.35;

let widths: usize = 0; // of the layers, input first: layers + 1 of 32 bits
let layers: i32 = 0;
let activation: i32 = 0;
let samples: i32 = 0;
let parameters: usize = 0; // per member and layer: weights[⌈in⌉₄][⌈out⌉₄], bias[⌈out⌉₄]
let memberBytes: usize = 0;
let input: usize = 0; // members × samples × inputs
let output: usize = 0; // members × samples × outputs
let neurons: usize = 0; // this thread's: two rows as wide as the widest layer, in whole vectors
let rowBytes: usize = 0;

/** Sets the addresses of all data in bytes; those of vectors are multiples of 16. */
export function prepare(
  widthsAt: usize,
  layerCount: i32,
  activationNumber: i32,
  sampleCount: i32,
  parametersAt: usize,
  bytesOfMember: usize,
  inputAt: usize,
  outputAt: usize,
  neuronsAt: usize,
  bytesOfRow: usize,
): void {
  widths = widthsAt;
  layers = layerCount;
  activation = activationNumber;
  samples = sampleCount;
  parameters = parametersAt;
  memberBytes = bytesOfMember;
  input = inputAt;
  output = outputAt;
  neurons = neuronsAt;
  rowBytes = bytesOfRow;
}

/** Computes all samples of the members from `first` to before `end`. */
export function forward(first: i32, end: i32): void {
  const inputBytes = widthOf(0) * FLOAT;
  const outputBytes = widthOf(layers) * FLOAT;
  for (let member = first; member < end; member++) {
    const own = parameters + <usize>member * memberBytes;
    for (let sample = 0; sample < samples; sample++) {
      const item = <usize>member * samples + sample;
      memory.fill(neurons, 0, rowBytes);
      memory.copy(neurons, input + item * inputBytes, inputBytes);
      memory.copy(output + item * outputBytes, applyNetwork(own), outputBytes);
    }
  }
}

function widthOf(layer: i32): usize {
  return <usize>load<u32>(widths + <usize>layer * FLOAT);
}

/** Width rounded up to whole vectors. */
function paddedWidthOf(layer: i32): usize {
  return (widthOf(layer) + 3) & ~3;
}

/** Runs the first row of neurons through all layers; returns the row of the last layer. */
function applyNetwork(network: usize): usize {
  let weights = network;
  let before = neurons;
  let after = neurons + rowBytes;
  for (let layer = 0; layer < layers; layer++) {
    const inner = paddedWidthOf(layer);
    const pitch = paddedWidthOf(layer + 1) * FLOAT;
    applyLayer(weights, inner, pitch, before, after);
    if (layer + 1 < layers) activate(after, pitch);
    weights += (inner + 1) * pitch;
    const swapped = before;
    before = after;
    after = swapped;
  }
  return before;
}

/** sum + x·y: rounded once where the processor has such an instruction, twice elsewhere. */
function multiplyAdd(sum: v128, x: v128, y: v128): v128 {
  return f32x4.relaxed_madd(x, y, sum);
}

/** Sums of one layer, 32 neurons at a time and then four. Padded neurons and weights are zero. */
function applyLayer(weights: usize, inner: usize, pitch: usize, before: usize, after: usize): void {
  const bias = weights + inner * pitch;
  const end = before + inner * FLOAT;
  let at: usize = 0;
  for (; at + BLOCK <= pitch; at += BLOCK) addBlock(weights + at, pitch, bias + at, before, end, after + at);
  for (; at < pitch; at += VECTOR) addVector(weights + at, pitch, bias + at, before, end, after + at);
}

/** Eight sums, enough to hide the latency of an addition. */
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
  for (let neuron = before; neuron < end; neuron += FLOAT) {
    const x = v128.load32_splat(neuron);
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

/** One vector of sums, in four parts for the same reason. */
function addVector(weights: usize, pitch: usize, bias: usize, before: usize, end: usize, after: usize): void {
  let row = weights;
  let sum0 = v128.load(bias);
  let sum1 = f32x4.splat(0);
  let sum2 = f32x4.splat(0);
  let sum3 = f32x4.splat(0);
  for (let neuron = before; neuron < end; neuron += VECTOR) {
    sum0 = multiplyAdd(sum0, v128.load32_splat(neuron), v128.load(row));
    sum1 = multiplyAdd(sum1, v128.load32_splat(neuron, 4), v128.load(row + pitch));
    sum2 = multiplyAdd(sum2, v128.load32_splat(neuron, 8), v128.load(row + 2 * pitch));
    sum3 = multiplyAdd(sum3, v128.load32_splat(neuron, 12), v128.load(row + 3 * pitch));
    row += 4 * pitch;
  }
  v128.store(after, f32x4.add(f32x4.add(sum0, sum1), f32x4.add(sum2, sum3)));
}

function activate(row: usize, sizeBytes: usize): void {
  const end = row + sizeBytes;
  if (activation == RELU) {
    for (let at = row; at < end; at += VECTOR) v128.store(at, f32x4.max(v128.load(at), f32x4.splat(0)));
  }
  if (activation == TANH) {
    for (let at = row; at < end; at += VECTOR) v128.store(at, tanh(v128.load(at)));
  }
}

/** Eleventh convergent of Lambert's continued fraction x/(1 + x²/(3 + x²/(5 + …))): within 5e-7. */
function tanh(value: v128): v128 {
  const x = f32x4.max(f32x4.min(value, f32x4.splat(TANH_LIMIT)), f32x4.splat(-TANH_LIMIT));
  const z = f32x4.mul(x, x);
  let over = f32x4.add(z, f32x4.splat(2145));
  over = multiplyAdd(f32x4.splat(675675), z, over);
  over = multiplyAdd(f32x4.splat(64324260), z, over);
  over = multiplyAdd(f32x4.splat(1964187225), z, over);
  over = multiplyAdd(f32x4.splat(13749310575), z, over);
  let under = multiplyAdd(f32x4.splat(45045), z, f32x4.splat(66));
  under = multiplyAdd(f32x4.splat(7567560), z, under);
  under = multiplyAdd(f32x4.splat(413513100), z, under);
  under = multiplyAdd(f32x4.splat(6547290750), z, under);
  under = multiplyAdd(f32x4.splat(13749310575), z, under);
  return f32x4.div(f32x4.mul(x, over), under);
}
