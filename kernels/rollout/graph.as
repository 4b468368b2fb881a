// A graph of its own for every lane: the twin of graph.wgsl, which policy-layout.ts describes. Rows are walked lane by
// lane, since no two need have the same nodes; values of nodes of all lanes stand a VECTOR apart. To whom places are
// given, all nodes are one layer.

const CONNECTION_BYTES: usize = 12;
const FIRST_OUTPUT: usize = <usize>OBSERVATION_SIZE + 1;
const SLOPE: f32 = 4.9; // Stanley and Miikkulainen 2002, section 4.1

let layers: u32 = 0; // one
let widths: usize = 0; // none, then the nodes
let activations: usize = 0; // not read
let laneWeights: usize = 0; // where the row of each lane stands
let neurons: usize = 0; // the nodes
let neuronsBytes: usize = 0;
let present: usize = 0; // not used

/** Notes where a lane's row stands; false where a number of it is NaN or infinite. */
function loadMember(row: usize, lane: i32): bool {
  store<u32>(laneWeights + <usize>lane * FLOAT, <u32>row);
  let doubt: f32 = 0;
  for (let at: usize = 0; at < rowBytes; at += FLOAT) doubt += load<f32>(row + at) * 0;
  return doubt == 0;
}

/** Takes observations through the graphs; gives where the outputs stand. */
function applyPolicy(observation: usize): usize {
  memory.fill(neurons, 0, neuronsBytes);
  memory.copy(neurons, observation, <usize>OBSERVATION_SIZE * VECTOR);
  v128.store(neurons + <usize>OBSERVATION_SIZE * VECTOR, f32x4.splat(1));
  const outputs = neurons + FIRST_OUTPUT * VECTOR;
  // What nothing leads to is a sigmoid of 0.
  for (let output: usize = 0; output < <usize>OUTPUTS; output++) {
    v128.store(outputs + output * VECTOR, f32x4.splat(0.5));
  }
  const nodes = load<u32>(widths, FLOAT);
  for (let lane = 0; lane < LANES; lane++) {
    if ((liveLanes & (1 << lane)) != 0) walkRow(load<u32>(laneWeights + <usize>lane * FLOAT), neurons + <usize>lane * FLOAT, nodes);
  }
  return outputs;
}

/** Adds up what leads to each node of one lane, and takes the sigmoid where the last of it is added. */
function walkRow(row: usize, values: usize, nodes: u32): void {
  const most = (<u32>(rowBytes / FLOAT) - 1) / 3;
  const connections = min(toWhole(load<f32>(row)), most);
  let at = row + FLOAT;
  let sum: f32 = 0;
  for (let connection: u32 = 0; connection < connections; connection++, at += CONNECTION_BYTES) {
    const source = min(toWhole(load<f32>(at)), nodes - 1);
    const target = min(toWhole(load<f32>(at, 4)), nodes - 1);
    sum += load<f32>(at, 8) * load<f32>(values + <usize>source * VECTOR);
    const isLast = connection + 1 == connections || min(toWhole(load<f32>(at, 16)), nodes - 1) != target;
    if (!isLast) continue;
    store<f32>(values + <usize>target * VECTOR, toSigmoid(sum));
    sum = 0;
  }
}

/** As WGSL converts: towards zero, and no further than the type reaches. */
// @ts-ignore: decorator
@inline
function toWhole(value: f32): u32 {
  return value >= 1 ? <u32>min<f32>(value, 4294967040) : 0;
}

// @ts-ignore: decorator
@inline
function toSigmoid(sum: f32): f32 {
  const half: f32 = 0.5;
  return half + half * f32x4.extract_lane(hyperbolicTangent(f32x4.splat(half * SLOPE * sum)), 0);
}
