import { setTimeout as delay } from "node:timers/promises";
import { readReply } from "../hop/read-reply.ts";
import { joinOutputs } from "../join-outputs.ts";
import type { FrameSender } from "./frame-sender.ts";
import type { ServiceTimes } from "./service-times.ts";
import { createInput, type ModelName, MODELS } from "./served-models.ts";
import { ROWS, type TraceShape } from "./trace.ts";

/** A load for all contenders, and earlier measurements. */
export interface GoodputCase {
  readonly ratePerSecond: number;
  readonly shape: TraceShape;
  readonly serviceTimes: ServiceTimes;
  /** Expected outputs of the models for every image, in order. */
  readonly expected: Float32Array;
}

/** Wide enough that nothing is refused while outputs are compared. */
const CHECK_BUDGET_MS = 60_000;
/** Attempts for a request that is refused all the same, since a peer ignores budgets. */
const CHECK_TRIES = 50;
const RETRY_MS = 20;
const REFUSED = 503;
/** Relative to the largest output: the product may answer with weights of 8 bits where they decide alike. */
const TOLERANCE = 0.02;

/** Sends every row to its model, all at once, so that batches can form. Throws where one is not answered. */
export async function collectOutputs(sender: FrameSender): Promise<Float32Array> {
  const requests = MODELS.flatMap((model) => Array.from({ length: ROWS }, (_, seed) => ({ model, seed })));
  return joinOutputs(await Promise.all(requests.map(({ model, seed }) => askUntilAnswered(sender, model, seed))));
}

async function askUntilAnswered(sender: FrameSender, model: ModelName, seed: number): Promise<Float32Array> {
  for (let tries = 1; ; tries++) {
    const { status, body } = await sender.send(model, CHECK_BUDGET_MS, createInput(model, seed));
    if (status === 200) return readReply(body).values;
    if (status !== REFUSED || tries === CHECK_TRIES) {
      throw new Error(`status ${status}: ${new TextDecoder().decode(body)}`);
    }
    await delay(RETRY_MS);
  }
}

/** Throws where an output differs from the expected one by more than rounding, including that of weights. */
export function checkOutputs({ expected }: GoodputCase, output: Float32Array): void {
  if (output.length !== expected.length) throw new Error(`it has ${output.length} numbers, not ${expected.length}`);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const wrong = expected.findIndex((value, index) => !(Math.abs(output[index]! - value) <= TOLERANCE * largest));
  if (wrong >= 0) throw new Error(`number ${wrong} is ${output[wrong]}, not ${expected[wrong]}`);
}
