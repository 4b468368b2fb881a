import { expect, test } from "vitest";
import { SimClock } from "../../../../../bench/simulate/sim-clock.ts";
import { exponential, uniformStream } from "../../../../../bench/simulate/uniform-stream.ts";
import { InferenceServer } from "../../../../../src/gpu-runner/serving/queue/inference-server.ts";
import type { Tensor } from "../../../../../src/protocol/wire/tensor.ts";

const ROW: readonly Tensor[] = [{ name: "x", dtype: "float32", shape: [1, 1], bytes: new Uint8Array(4) }];
/** Until then the device is slow, as beside other work. */
const SLOW_UNTIL_MS = 5_000;
const END_MS = 20_000;

/** Shares of the requests for the tight model that were answered in time, by second. */
async function play(): Promise<number[]> {
  const clock = new SimClock();
  const server = new InferenceServer(
    {
      async infer(modelKey) {
        const isTight = modelKey.startsWith("tight");
        await clock.delay(clock.nowMs < SLOW_UNTIL_MS ? 60 : isTight ? 4 : 12);
        return { tensors: [...ROW], times: { uploadMs: 0, computeMs: 1, readbackMs: 0 } };
      },
    },
    () => clock.nowMs,
    (durationMs) => clock.delay(durationMs),
  );
  const seconds = Array.from({ length: END_MS / 1_000 }, () => ({ asked: 0, answered: 0 }));
  const send = (modelVersionId: string, everyMs: number, budgetMs: number, purpose: number) => {
    const uniform = uniformStream(1, purpose);
    for (let atMs = 0; atMs < END_MS; atMs += exponential(uniform, everyMs)) {
      clock.at(atMs, () => {
        const second = modelVersionId === "tight" ? seconds[Math.floor(atMs / 1_000)]! : { asked: 0, answered: 0 };
        second.asked++;
        const request = { requestId: `${modelVersionId}${atMs}`, modelVersionId, variant: "fp32", budgetMs };
        void server.serve(request, ROW).then(
          () => (second.answered += clock.nowMs <= atMs + budgetMs ? 1 : 0),
          () => {},
        );
      });
    }
  };
  // More than the device can do, so that it is never idle.
  send("other", 8, 400, 1);
  // Before the slow spell ends no request of it can be in time.
  send("tight", 20, 40, 2);
  await clock.runUntil(END_MS + 1_000);
  return seconds.map(({ asked, answered }) => answered / asked);
}

test("a model that was too slow for every budget is answered again soon after it is fast, though the device is never idle", async () => {
  const shares = await play();
  expect(Math.max(...shares.slice(1, 5))).toBeLessThan(0.1);
  const afterwards = shares.slice(12);
  expect(afterwards.reduce((sum, share) => sum + share, 0) / afterwards.length).toBeGreaterThan(0.6);
});
