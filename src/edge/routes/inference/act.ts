import type { InferWishes } from "../../../protocol/inference/inference.ts";
import type { ActionChoice } from "../../../protocol/policies/policy.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { answerInference, type Inference } from "../../inference/answer-inference.ts";
import { type InferCall, locateVersion, type ProjectCall } from "../../inference/snapshot.ts";
import { chooseAction, type Policy, readPolicy, stackObservations, unstackOutputs } from "./policy-request.ts";

/** A version of a model as a policy. */
export interface PolicyVersion {
  /** As `name@2`. */
  readonly model: string;
  readonly policy: Policy;
}

export async function locatePolicy(call: ProjectCall, reference: string): Promise<PolicyVersion> {
  const located = await locateVersion(call, reference);
  if (located === null) throw new ProblemError("not-found", `There is no policy ${reference}.`);
  const { version } = located;
  const model = `${version.model}@${version.version}`;
  return { model, policy: readPolicy(model, version.inputs, version.outputs) };
}

/** The outputs for observations, and the details of their inference. */
export async function act(
  call: InferCall,
  { model, policy }: PolicyVersion,
  observations: readonly (readonly number[])[],
  pointerOf: (index: number) => string,
  wishes: InferWishes,
): Promise<{ inference: Inference; outputs: number[][] }> {
  const tensors = [stackObservations(policy, observations, pointerOf)];
  const inference = await answerInference(call, { ...wishes, model, tensors, pointerOf: () => pointerOf(0) });
  return { inference, outputs: unstackOutputs(policy, inference.tensors, observations.length) };
}

export function decide(
  choice: ActionChoice,
  outputs: readonly number[],
  seed: number,
  index: number,
): number | number[] {
  try {
    return chooseAction(choice, outputs, seed, index);
  } catch {
    throw new ProblemError("backend-failed", "The policy's outputs are not finite.");
  }
}
