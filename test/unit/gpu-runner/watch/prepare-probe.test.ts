import { getEventListeners } from "node:events";
import { expect, it, vi } from "vitest";
import type { Answer, InferenceServer } from "../../../../src/gpu-runner/serving/queue/inference-server.ts";
import { prepareProbe, type WatchedPlacement } from "../../../../src/gpu-runner/watch/prepare-probe.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";

type Parts = Parameters<typeof prepareProbe>[0];

const placement: WatchedPlacement = {
  model: {
    modelVersionId: createId("modelVersion"),
    variants: [{ name: "fp32", digest: "sha256:0" }],
    inputs: [{ name: "x", dtype: "float32", shape: [-1, 2] }],
    outputs: [{ name: "y", dtype: "float32", shape: [-1, 2] }],
  },
  variant: "fp32",
  deviceKey: "cpu",
  backend: "ort-cpu",
};

function prepare() {
  const answer = Promise.withResolvers<Answer>();
  const server = { serve: () => answer.promise, cancel: vi.fn<InferenceServer["cancel"]>() };
  const parts = {
    fleet: { find: () => ({ host: { isDown: false }, server }) },
    models: { ensureReady: async () => ({ joins: true, configuration: DEFAULT_CONFIGURATION }) },
  } as unknown as Parts;
  return { answer, server, prepared: prepareProbe(parts, placement) };
}

it("reports a probe's duration without waiting, and holds on to nothing afterwards", async () => {
  const { answer, server, prepared } = prepare();
  const withdrawn = new AbortController();
  const probing = (await prepared)(withdrawn.signal);
  expect(getEventListeners(withdrawn.signal, "abort")).toHaveLength(1);
  const times = { queueMs: 100, uploadMs: 1, computeMs: 5, readbackMs: 2 };
  answer.resolve({ tensors: [], times, rows: 1, backlogMs: 0 });
  expect(await probing).toEqual({ serviceMs: 8, computeMs: 5 });
  // The signal lives on until the next job.
  expect(getEventListeners(withdrawn.signal, "abort")).toHaveLength(0);
  withdrawn.abort();
  expect(server.cancel).not.toHaveBeenCalled();
});

it("leaves the queue once it is withdrawn", async () => {
  const { server, prepared } = prepare();
  const withdrawn = new AbortController();
  void (await prepared)(withdrawn.signal);
  withdrawn.abort();
  expect(server.cancel).toHaveBeenCalledOnce();
});
