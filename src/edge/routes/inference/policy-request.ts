import type { TensorSpec } from "../../../protocol/models/model.ts";
import type { ActionChoice } from "../../../protocol/policies/policy.ts";
import { invalidRequest } from "../../../protocol/wire/parse-input.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { type FieldError, ProblemError } from "../../../protocol/wire/problem.ts";
import { countElements, type Tensor, typedView } from "../../../protocol/wire/tensor.ts";
import { philox4x32 } from "../../../stats/random/draws.ts";

/**
 * A policy's action from its outputs: the index of the largest (the first of equals), an index drawn from their
 * softmax, or the outputs themselves.
 * A draw depends on seed and index only. Throws where the outputs have no largest or cannot be JSON numbers.
 */
export function chooseAction(
  choice: ActionChoice,
  outputs: readonly number[],
  seed: number,
  index: number,
): number | number[] {
  const largest = outputs.reduce((most, output) => Math.max(most, output), Number.NEGATIVE_INFINITY);
  if (!Number.isFinite(largest) || (choice === "raw" && !outputs.every(Number.isFinite))) {
    throw new RangeError("the outputs are not finite");
  }
  if (choice === "raw") return [...outputs];
  if (choice === "argmax") return outputs.indexOf(largest);
  // Subtract the largest, so that no exponential overflows.
  const weights = outputs.map((output) => Math.exp(output - largest));
  const [word] = philox4x32([index, Math.floor(index / 2 ** 32), 0, 0], [seed, 0]);
  let rest = (word / 2 ** 32) * weights.reduce((sum, weight) => sum + weight, 0);
  const drawn = weights.findIndex((weight) => (rest -= weight) < 0);
  return drawn < 0 ? outputs.indexOf(largest) : drawn;
}

/** A network as a policy: its input of type float32, and the name of its output. */
export interface Policy {
  readonly observation: Pick<TensorSpec, "name" | "shape">;
  readonly output: string;
}

/** Reads a network as a policy: one float32 input whose first dimension is free. Fails with `invalid-model`. */
export function readPolicy(reference: string, inputs: readonly TensorSpec[], outputs: readonly TensorSpec[]): Policy {
  const [observation, ...others] = inputs;
  const [output] = outputs;
  const isPolicy =
    observation?.dtype === "float32" &&
    others.length === 0 &&
    output?.dtype === "float32" &&
    [observation, output].every(({ shape }) => shape[0] === -1 && !shape.slice(1).includes(-1));
  if (!isPolicy) {
    const detail = `${reference} is no policy: it has to take one float32 input, whose first dimension alone is free, and to give a float32 output like that.`;
    throw new ProblemError("invalid-model", detail);
  }
  return { observation: { name: observation.name, shape: observation.shape }, output: output.name };
}

/** Bytes of a streamed observation beside its numbers; a number in JSON has at most 24, and some white space. */
const MESSAGE_BYTES = 1_024;
const NUMBER_BYTES = 32;

/** The longest message of a stream, in bytes. */
export function measureMessage({ observation: { shape } }: Policy): number {
  return Math.min(LIMITS.streamedMessageBytes, MESSAGE_BYTES + NUMBER_BYTES * countElements(shape.slice(1)));
}

/** All observations as the network's input. `pointerOf` gives the place of one in the request. */
export function stackObservations(
  { observation: { name, shape } }: Policy,
  observations: readonly (readonly number[])[],
  pointerOf: (index: number) => string,
): Tensor {
  const [, ...inner] = shape;
  const length = countElements(inner);
  const errors = observations.flatMap((observation, index): FieldError[] =>
    observation.length === length
      ? []
      : [{ pointer: pointerOf(index), message: `must have ${length} numbers, not ${observation.length}` }],
  );
  if (errors.length > 0) throw invalidRequest(errors);
  const values = new Float32Array(observations.length * length);
  for (const [index, observation] of observations.entries()) values.set(observation, index * length);
  return { name, dtype: "float32", shape: [observations.length, ...inner], bytes: new Uint8Array(values.buffer) };
}

/** The outputs for each observation. Fails with `backend-failed` where the runner sent something else. */
export function unstackOutputs({ output }: Policy, tensors: readonly Tensor[], observations: number): number[][] {
  const found = tensors.find(({ name }) => name === output);
  if (found?.dtype !== "float32" || found.shape[0] !== observations) {
    throw new ProblemError("backend-failed", `The runner's answer holds no ${output} for each observation.`);
  }
  const values = typedView(found) as Float32Array;
  const length = values.length / observations;
  return Array.from({ length: observations }, (_, index) => [...values.subarray(index * length, (index + 1) * length)]);
}
