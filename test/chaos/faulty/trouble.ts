import { sfc32 } from "../../../src/stats/random/seeded.ts";

const draw = sfc32(1);
const RESOLUTION = 1_000;
const MAX_DELAY_MS = 1_500;

/**
 * Does a call that goes wrong at this rate: it is never made, or it is made and its answer is lost, or it takes long.
 */
export async function troubled<Value>(what: string, rate: number, call: () => Promise<Value>): Promise<Value> {
  if (draw(RESOLUTION) >= rate * RESOLUTION) return call();
  const kind = draw(3);
  if (kind === 0) throw new Error(`${what}: planted failure before the call`);
  const value = await call();
  if (kind === 1) throw new Error(`${what}: planted loss of the answer`);
  await new Promise((resolve) => {
    setTimeout(resolve, draw(MAX_DELAY_MS));
  });
  return value;
}
