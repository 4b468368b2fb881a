import { describe, expect, it } from "vitest";
import { splitLatency, splitPrediction } from "../../../src/words/models.ts";

const latency = { totalMs: 20, edgeMs: 2, linkMs: 8, queueMs: 1, uploadMs: 1, computeMs: 4, readbackMs: 1 };

describe("the parts of a latency", () => {
  it("stand in the order of the way, with what none of them accounts for", () => {
    const parts = splitLatency(latency, "ort-cpu");
    expect(parts.map(({ name, ms }) => [name, ms])).toEqual([
      ["edge", 2],
      ["link", 8],
      ["queue", 1],
      ["upload", 1],
      ["compute", 4],
      ["readback", 1],
      ["rest", 3],
    ]);
  });

  it("are one where the edge computed by itself", () => {
    const alone = { ...latency, totalMs: 2, linkMs: 0, queueMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 };
    expect(splitLatency(alone, "edge-wasm")).toEqual([{ name: "edge", ms: 2, clock: "edge" }]);
  });

  it("of a prediction come without a rest where they add up to it", () => {
    const prediction = { confidence: 0.99, latencyMs: 9, linkMs: 4, queueMs: 2, serviceMs: 3 };
    expect(splitPrediction(prediction).map(({ name }) => name)).toEqual(["link", "queue", "service"]);
    expect(splitPrediction({ ...prediction, latencyMs: 10 }).at(-1)).toEqual({ name: "rest", ms: 1, clock: null });
  });
});
