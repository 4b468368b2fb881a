import { readReply } from "../hop/read-reply.ts";
import { joinOutputs } from "../join-outputs.ts";
import type { FrameSender } from "./frame-sender.ts";
import type { ServiceTimes } from "./service-times.ts";
import { createImage, MODELS } from "./served-models.ts";
import { IMAGES } from "./trace.ts";

/** A load that all contenders get, and what was measured before. */
export interface GoodputCase {
  readonly ratePerSecond: number;
  readonly serviceTimes: ServiceTimes;
  /** What the models say of every image, one after the other. */
  readonly expected: Float32Array;
}

/** Wide enough that nothing is refused while outputs are compared. */
const CHECK_BUDGET_MS = 60_000;
/** Batches may sum in another order than single rows. */
const TOLERANCE = 1e-3;

/** Every image to both models, all at once, so that batches form where there are any. Throws where one is refused. */
export async function collectOutputs(sender: FrameSender): Promise<Float32Array> {
  const requests = MODELS.flatMap((model) => Array.from({ length: IMAGES }, (_, seed) => ({ model, seed })));
  const replies = await Promise.all(
    requests.map(({ model, seed }) => sender.send(model, CHECK_BUDGET_MS, createImage(seed))),
  );
  const outputs = replies.map(({ status, body }) => {
    if (status !== 200) throw new Error(`status ${status}: ${new TextDecoder().decode(body)}`);
    return readReply(body).values;
  });
  return joinOutputs(outputs);
}

/** Throws where an output is further from the expected one than rounding takes it. */
export function checkOutputs({ expected }: GoodputCase, output: Float32Array): void {
  if (output.length !== expected.length) throw new Error(`it has ${output.length} numbers, not ${expected.length}`);
  const wrong = expected.findIndex(
    (value, index) => !(Math.abs(output[index]! - value) <= TOLERANCE * Math.max(1, Math.abs(value))),
  );
  if (wrong >= 0) throw new Error(`number ${wrong} is ${output[wrong]}, not ${expected[wrong]}`);
}
