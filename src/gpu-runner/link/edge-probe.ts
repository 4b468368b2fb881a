import { setTimeout as delay } from "node:timers/promises";
import type { RequestParts } from "../../client/call-options.ts";
import { EdgeRunInput, EdgeRunReply } from "../../protocol/models/edge-place.ts";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { edgeEndpoints } from "../../protocol/models/edge-place.ts";
import { serviceEndpoints } from "../../protocol/service/service-endpoints.ts";
import { type Tensor, tensorFromJson } from "../../protocol/wire/tensor.ts";
import { type EdgeAccess, openEdge } from "./edge-client.ts";

const TIMEOUT_MS = 30_000;
const PACE_MS = 5;

export interface EdgeRun {
  readonly outputs: Tensor[];
  /** Memory of the network at the edge. */
  readonly sizeBytes: number;
  /** Work of a row, out of the limit of one request. */
  readonly rowProducts: number;
  /** From the request to the last byte of its answer, on the runner's monotonic clock. */
  readonly durationMs: number;
}

/** Times the edge from outside; its own clock stands still while it computes. */
export interface EdgeProbe {
  /** Runs a dense network at the edge. Throws ProblemError where it refuses, and errors of fetch. */
  run(run: Partial<EdgeRunInput>, signal: AbortSignal): Promise<EdgeRun>;
  /** Times of almost empty requests, each in milliseconds: one after the other, and not more often than every 5 ms. */
  measureMs(count: number, signal: AbortSignal): Promise<number[]>;
}

/** Calls the edge as this runner. */
export function createEdgeProbe(access: EdgeAccess): EdgeProbe {
  const edge = openEdge(access);
  const call = async (endpoint: Endpoint, signal: AbortSignal, parts: RequestParts = {}) => {
    const startMs = performance.now();
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await edge.send(endpoint, { ...parts, signal: limited });
    const text = await response.text();
    return { text, durationMs: performance.now() - startMs };
  };
  return {
    async run(run, signal) {
      const body = EdgeRunInput.parse(run);
      const { text, durationMs } = await call(edgeEndpoints.runAtEdge, signal, { body });
      const { outputs, ...network } = EdgeRunReply.parse(JSON.parse(text));
      return { outputs: Object.entries(outputs).map(([name, json]) => toTensor(name, json)), ...network, durationMs };
    },
    async measureMs(count, signal) {
      const samples: number[] = [];
      const startMs = performance.now();
      for (let i = 0; i < count; i++) {
        // Without pauses all of them could fall between two periodic tasks of the edge, whose delay would be missed.
        const pauseMs = startMs + i * PACE_MS - performance.now();
        if (pauseMs > 0) await delay(pauseMs, null, { signal });
        samples.push((await call(serviceEndpoints.getHealth, signal)).durationMs);
      }
      return samples;
    },
  };
}

function toTensor(name: string, json: EdgeRunReply["outputs"][string]): Tensor {
  const read = tensorFromJson(name, json);
  // NaN and infinities are null in JSON.
  if (!read.ok) throw new ProblemError("backend-failed", `The edge's output ${name} cannot be read: ${read.message}.`);
  return read.tensor;
}
