import { EdgeRunInput, EdgeRunReply } from "../../protocol/models/edge-place.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { parseProblem, ProblemError } from "../../protocol/wire/problem.ts";
import { type Tensor, tensorFromJson } from "../../protocol/wire/tensor.ts";
import type { StoredCredential } from "./registration.ts";

const TIMEOUT_MS = 30_000;

export interface EdgeRun {
  readonly outputs: Tensor[];
  /** Memory that the network takes at the edge. */
  readonly sizeBytes: number;
  /** What a row takes, of all that one request may. */
  readonly rowProducts: number;
  /** From the request to the last byte of its answer, on the runner's monotonic clock. */
  readonly durationMs: number;
}

/** Times the edge from outside; its own clock stands still while it computes. */
export interface EdgeProbe {
  /** Has it compute a dense network. Throws ProblemError where it refuses, and what fetch throws. */
  run(run: Partial<EdgeRunInput>, signal: AbortSignal): Promise<EdgeRun>;
  /** Requests that ask next to nothing, one after the other, each in milliseconds. */
  measureMs(count: number, signal: AbortSignal): Promise<number[]>;
}

/** Asks the edge as this runner. */
export function createEdgeProbe({ edgeUrl, credential }: Pick<StoredCredential, "edgeUrl" | "credential">): EdgeProbe {
  const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
  const call = async (path: string, signal: AbortSignal, request: RequestInit) => {
    const startMs = performance.now();
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(new URL(path, edgeUrl), { ...request, signal: limited });
    const text = await response.text();
    const durationMs = performance.now() - startMs;
    // An older edge, or what stands before it, may send anything.
    if (!response.ok)
      throw parseProblem(text) ?? new ProblemError("backend-failed", `The edge answered ${response.status}.`);
    return { text, durationMs };
  };
  return {
    async run(run, signal) {
      const body = JSON.stringify(EdgeRunInput.parse(run));
      const { text, durationMs } = await call(endpoints.runAtEdge.path, signal, { method: "POST", headers, body });
      const { outputs, ...network } = EdgeRunReply.parse(JSON.parse(text));
      return { outputs: Object.entries(outputs).map(([name, json]) => toTensor(name, json)), ...network, durationMs };
    },
    async measureMs(count, signal) {
      const samples: number[] = [];
      for (let i = 0; i < count; i++) samples.push((await call(endpoints.getHealth.path, signal, {})).durationMs);
      return samples;
    },
  };
}

function toTensor(name: string, json: EdgeRunReply["outputs"][string]): Tensor {
  const read = tensorFromJson(name, json);
  // What is not a number is null in JSON.
  if (!read.ok) throw new ProblemError("backend-failed", `The edge's output ${name} cannot be read: ${read.message}.`);
  return read.tensor;
}
