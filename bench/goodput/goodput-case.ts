import { setTimeout as delay } from "node:timers/promises";
import { readReply } from "../hop/read-reply.ts";
import { joinOutputs } from "../join-outputs.ts";
import type { FrameSender } from "./frame-sender.ts";
import type { ServiceTimes } from "./service-times.ts";
import { createInput, type ModelName, MODELS } from "./served-models.ts";
import { ROWS } from "./trace.ts";

/** A load that all contenders get, and what was measured before. */
export interface GoodputCase {
  readonly ratePerSecond: number;
  readonly serviceTimes: ServiceTimes;
  /** What the models say of every image, one after the other. */
  readonly expected: Float32Array;
}

/** Wide enough that nothing has to be refused while outputs are compared. */
const CHECK_BUDGET_MS = 60_000;
/** What is refused all the same, since a peer knows no budgets, is asked for again so often. */
const CHECK_TRIES = 50;
const RETRY_MS = 20;
const REFUSED = 503;
/** Of the largest output: the product may answer by weights of 8 bits where they decide alike. */
const TOLERANCE = 0.02;

/** Every row to its model, all at once, so that batches form where there are any. Throws where one is not answered. */
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

/** Throws where an output is further from the expected one than rounding, of weights too, takes it. */
export function checkOutputs({ expected }: GoodputCase, output: Float32Array): void {
  if (output.length !== expected.length) throw new Error(`it has ${output.length} numbers, not ${expected.length}`);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const wrong = expected.findIndex((value, index) => !(Math.abs(output[index]! - value) <= TOLERANCE * largest));
  if (wrong >= 0) throw new Error(`number ${wrong} is ${output[wrong]}, not ${expected[wrong]}`);
}
