import type { Contender } from "../contest.ts";
import { readRows, ROUND_MS } from "./own.ts";
import { PLAIN_TASKS, type PlainTask } from "./plain-tasks.ts";
import { COMPARED, type FirstEpisode, HIDDEN, type RolloutCase, writeFirstEpisodes } from "./rollout-case.ts";

/**
 * The best plain JavaScript that is known here, on one thread: members one after the other, four sums at a time over
 * typed arrays, inputs that are zero left out, weights rearranged before as that wants them, and the quotient that
 * ours takes for tanh, which is faster than `Math.tanh`.
 */
export const contender: Contender<RolloutCase> = async ({ environment, members, episodes, weightsFile }) => {
  const task = PLAIN_TASKS[environment]!();
  const weights = rearrange(await readRows(weightsFile), members, task);
  const policy = createPolicy(weights, task);
  const outputs = Array.from({ length: COMPARED }, (_, member) => playFirst(task, policy, member));
  let member = 0;
  const play = () => {
    let steps = 0;
    policy.take(member);
    for (let episode = 0; episode < episodes; episode++) steps += playEpisode(task, policy);
    member = (member + 1) % members;
    return steps;
  };
  for (const startedMs = performance.now(); performance.now() - startedMs < ROUND_MS;) play();
  return {
    opened: { output: writeFirstEpisodes(outputs), adapter: null },
    async measure() {
      const startedMs = performance.now();
      let steps = 0;
      while (performance.now() - startedMs < ROUND_MS) for (let turn = 0; turn < 64; turn++) steps += play();
      return { steps: (1e3 * steps) / (performance.now() - startedMs) };
    },
    close: async () => {},
  };
};

interface Policy {
  /** Switches to a member. */
  take(member: number): void;
  readonly observation: Float64Array;
  readonly outputs: Float64Array;
  /** Computes outputs from the observation. */
  apply(): void;
}

function playEpisode(task: PlainTask, policy: Policy): number {
  task.reset();
  let steps = 0;
  do {
    task.observe(policy.observation);
    policy.apply();
    task.step(policy.outputs);
    steps++;
  } while (!task.ended && steps < task.stepLimit);
  return steps;
}

function playFirst(task: PlainTask, policy: Policy, member: number): FirstEpisode {
  policy.take(member);
  task.reset();
  task.observe(policy.observation);
  const observation = policy.observation.slice();
  let total = 0;
  let length = 0;
  do {
    task.observe(policy.observation);
    policy.apply();
    total += task.step(policy.outputs);
    length++;
  } while (!task.ended && length < task.stepLimit);
  return { observation, length, total };
}

/** Outputs of the last layer, rounded up to fours. */
function pitchOf({ outputs }: PlainTask): number {
  return 4 * Math.ceil(outputs / 4);
}

/** From weights[outputs][inputs] to weights[inputs][outputs], so that four sums are neighbours. */
function rearrange(rows: Float32Array, members: number, task: PlainTask): Float32Array {
  const from = rows.length / members;
  const pitch = pitchOf(task);
  const to = (task.observationSize + 1) * HIDDEN + (HIDDEN + 1) * pitch;
  const arranged = new Float32Array(members * to);
  for (let member = 0; member < members; member++) {
    let read = member * from;
    let at = member * to;
    for (const [inputs, outputs, width] of [
      [task.observationSize, HIDDEN, HIDDEN],
      [HIDDEN, task.outputs, pitch],
    ] as const) {
      for (let output = 0; output < outputs; output++)
        for (let input = 0; input < inputs; input++) arranged[at + input * width + output] = rows[read++]!;
      for (let output = 0; output < outputs; output++) arranged[at + inputs * width + output] = rows[read++]!;
      at += (inputs + 1) * width;
    }
  }
  return arranged;
}

function createPolicy(weights: Float32Array, task: PlainTask): Policy {
  const inputs = task.observationSize;
  const pitch = pitchOf(task);
  const rowLength = (inputs + 1) * HIDDEN + (HIDDEN + 1) * pitch;
  const observation = new Float64Array(inputs);
  const present = new Int32Array(inputs);
  const everyNeuron = Int32Array.from({ length: HIDDEN }, (_, neuron) => neuron);
  const hidden = new Float64Array(HIDDEN);
  const last = new Float64Array(pitch);
  const outputs = new Float64Array(task.outputs);
  let first = 0;
  return {
    observation,
    outputs,
    take: (member) => (first = member * rowLength),
    apply() {
      let count = 0;
      for (let input = 0; input < inputs; input++) if (observation[input] !== 0) present[count++] = input;
      addLayer(weights, first, inputs, HIDDEN, observation, present, count, hidden);
      for (let neuron = 0; neuron < HIDDEN; neuron++) hidden[neuron] = tanh(hidden[neuron]!);
      addLayer(weights, first + (inputs + 1) * HIDDEN, HIDDEN, pitch, hidden, everyNeuron, HIDDEN, last);
      for (let output = 0; output < outputs.length; output++) {
        outputs[output] = task.isBounded ? 0.5 + 0.5 * tanh(0.5 * last[output]!) : last[output]!;
      }
    },
  };
}

function addLayer(
  weights: Float32Array,
  first: number,
  inputs: number,
  pitch: number,
  before: Float64Array,
  present: Int32Array,
  count: number,
  after: Float64Array,
): void {
  for (let neuron = 0; neuron < pitch; neuron += 4) {
    const start = first + neuron;
    const bias = start + inputs * pitch;
    let sum0 = weights[bias]!;
    let sum1 = weights[bias + 1]!;
    let sum2 = weights[bias + 2]!;
    let sum3 = weights[bias + 3]!;
    for (let index = 0; index < count; index++) {
      const input = present[index]!;
      const x = before[input]!;
      const at = start + input * pitch;
      sum0 += x * weights[at]!;
      sum1 += x * weights[at + 1]!;
      sum2 += x * weights[at + 2]!;
      sum3 += x * weights[at + 3]!;
    }
    after[neuron] = sum0;
    after[neuron + 1] = sum1;
    after[neuron + 2] = sum2;
    after[neuron + 3] = sum3;
  }
}

/** The eleventh convergent of Lambert's continued fraction x/(1 + x²/(3 + x²/(5 + …))): within 5e-7. */
function tanh(value: number): number {
  const x = value > 7.35 ? 7.35 : value < -7.35 ? -7.35 : value;
  const z = x * x;
  const over = 13749310575 + z * (1964187225 + z * (64324260 + z * (675675 + z * (2145 + z))));
  const under = 13749310575 + z * (6547290750 + z * (413513100 + z * (7567560 + z * (45045 + z * 66))));
  return (x * over) / under;
}
