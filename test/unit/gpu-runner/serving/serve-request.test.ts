import { describe, expect, it, vi } from "vitest";
import { type InferenceBackend, InferenceServer } from "../../../../src/gpu-runner/serving/queue/inference-server.ts";
import type { ModelLoader, Readiness } from "../../../../src/gpu-runner/serving/model-loader.ts";
import { serveRequest } from "../../../../src/gpu-runner/serving/serve-request.ts";
import type { InferOffer } from "../../../../src/protocol/link.ts";
import { type ProblemCode, ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";
import type { Tensor } from "../../../../src/protocol/wire/tensor.ts";

const offer: InferOffer = {
  type: "infer",
  requestId: "req_1",
  modelVersionId: "ver_1",
  deviceKey: "gpu0",
  variant: "fp32",
  backend: "wgsl",
  budgetMs: 60_000,
  confidence: 0.99,
  priority: 0,
  tensors: [],
};

/** Two devices that answer with a tensor of their name, or fail. */
function scriptFleet({ fails, isDown = false }: { fails?: ProblemCode; isDown?: boolean } = {}) {
  const device = (key: string, code?: ProblemCode) => {
    const infer = vi.fn<InferenceBackend["infer"]>(async () => {
      if (code !== undefined) throw new ProblemError(code, `${key} failed`);
      const tensors: Tensor[] = [{ name: key, dtype: "float32", shape: [0], bytes: new Uint8Array() }];
      return { tensors, times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } };
    });
    return { host: { isDown: key === "gpu0" && isDown }, server: new InferenceServer({ infer }), infer };
  };
  const [cpu, gpu] = [device("cpu"), device("gpu0", fails)];
  const ensureReady = vi.fn<ModelLoader["ensureReady"]>(async () => ({
    joins: true,
    configuration: DEFAULT_CONFIGURATION,
  }));
  const parts = { fleet: { cpu, find: (key: string) => (key === "cpu" ? cpu : gpu) }, models: { ensureReady } };
  const cancelling = new AbortController();
  const serve = async (changes: Partial<InferOffer> = {}) =>
    serveRequest(parts as never, { ...offer, ...changes }, [], performance.now(), cancelling.signal).then(
      ({ tensors, faults }) => ({ by: tensors[0]?.name, faults }),
      (error: unknown) => (error instanceof ProblemError ? error.problem.code : error),
    );
  return { serve, gpu, cpu, ensureReady, cancelling };
}

describe("a request that is placed on a GPU", () => {
  it("is answered there", async () => {
    expect(await scriptFleet().serve()).toEqual({ by: "gpu0", faults: undefined });
  });

  it("is answered by the CPU, and says so, where the device is lost twice or has no memory", async () => {
    const lost = scriptFleet({ fails: "device-lost" });
    expect(await lost.serve()).toEqual({
      by: "cpu",
      faults: [{ code: "device-lost", detail: "gpu0 failed", action: "cpu-backend" }],
    });
    expect(lost.gpu.infer).toHaveBeenCalledTimes(2);
    expect(lost.ensureReady).toHaveBeenLastCalledWith(offer, lost.cpu.host);
    expect(await scriptFleet({ fails: "out-of-memory" }).serve()).toMatchObject({
      by: "cpu",
      faults: [{ code: "out-of-memory", action: "cpu-backend" }],
    });
  });

  it("is not kept waiting for a device that is down", async () => {
    const { serve, gpu } = scriptFleet({ isDown: true });
    expect(await serve()).toMatchObject({ by: "cpu", faults: [{ code: "device-lost", action: "cpu-backend" }] });
    expect(gpu.infer).not.toHaveBeenCalled();
  });

  it("fails with what no other device would do better", async () => {
    const { serve, cpu } = scriptFleet({ fails: "backend-failed" });
    expect(await serve()).toBe("backend-failed");
    expect(cpu.infer).not.toHaveBeenCalled();
  });
});

describe("a request that is cancelled", () => {
  it("while its model is loaded is not begun", async () => {
    const { serve, gpu, cpu, ensureReady, cancelling } = scriptFleet();
    const loaded = Promise.withResolvers<Readiness>();
    ensureReady.mockReturnValue(loaded.promise);
    const served = serve();
    cancelling.abort();
    loaded.resolve({ joins: true, configuration: DEFAULT_CONFIGURATION });
    expect(await served).toBe("budget-exceeded");
    expect([gpu.infer.mock.calls, cpu.infer.mock.calls]).toEqual([[], []]);
  });

  it("while it waits is not begun", async () => {
    const { serve, gpu, cancelling } = scriptFleet();
    const ended = Promise.withResolvers<never>();
    gpu.infer.mockReturnValueOnce(ended.promise);
    const running = gpu.server.serve({ ...offer, requestId: "req_0" }, []);
    const waiting = serve();
    await vi.waitFor(() => expect(gpu.infer).toHaveBeenCalledOnce(), 10_000);
    await Promise.resolve();
    cancelling.abort();
    expect(await waiting).toBe("budget-exceeded");
    ended.reject(new Error("ended"));
    await expect(running).rejects.toThrow("ended");
    expect(gpu.infer).toHaveBeenCalledOnce();
  });
});

it("a request that is placed on the CPU stays there", async () => {
  expect(await scriptFleet({ isDown: true }).serve({ deviceKey: "cpu" })).toEqual({ by: "cpu", faults: undefined });
});
