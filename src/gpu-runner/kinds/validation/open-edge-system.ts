import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { endpoints } from "../../../protocol/endpoints.ts";
import { encodeFrame } from "../../../protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE } from "../../../protocol/inference/inference.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { parseProblem, ProblemError } from "../../../protocol/wire/problem.ts";
import type { StoredCredential } from "../../../checkup/runner-folder.ts";
import { createGate, type QueryWishes, type SystemUnderTest } from "./system-under-test.ts";
import type { SeededRows } from "./seeded-rows.ts";

/** Placement of this runner, and the requests for it. */
export interface EdgePlace {
  /** Model name in requests. */
  readonly model: string;
  readonly placementId: string;
  readonly inputs: SeededRows;
  /** Rows of one request, for a query of several. */
  readonly rows: number;
  /** Most requests in flight. */
  readonly maxInFlight: number | null;
}

/** Request path from this machine through the edge and back. */
export interface EdgeSystem {
  /** See `ModelSystem`. */
  within(budgetMs: number, wishes?: QueryWishes): SystemUnderTest;
  close(): void;
}

/** Extra wait for the answer: the edge keeps the budget, but the connection to it may not. */
const GRACE_MS = 5_000;

/**
 * Puts load on a placement of this runner the way that requests come.
 * HTTP with kept-alive connections reaches the edge, which sends each request over the link to this runner and its
 * answer back.
 */
export function openEdgeSystem(
  { edgeUrl, credential }: Pick<StoredCredential, "edgeUrl" | "credential">,
  { model, placementId, inputs, rows, maxInFlight }: EdgePlace,
): EdgeSystem {
  const url = new URL(endpoints.linkInfer.path, edgeUrl);
  const isSecure = url.protocol === "https:";
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const request = isSecure ? requestHttps : requestHttp;
  const headers = { authorization: `Bearer ${credential}`, "content-type": FRAME_MEDIA_TYPE, accept: FRAME_MEDIA_TYPE };

  /** Resolves at the last byte of an answer. */
  const post = (frame: Uint8Array, timeoutMs: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (error: Error) =>
      reject(new ProblemError("runner-lost", `The way to the edge broke: ${error.message}`));
    const options = { method: "POST", agent, headers: { ...headers, "content-length": frame.byteLength } };
    const outgoing = request(url, options, (reply) => {
      const chunks: Buffer[] = [];
      reply.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", fail);
      reply.on("end", () => {
        if (reply.statusCode === 200) resolve();
        else reject(problemOf(reply.statusCode ?? 0, Buffer.concat(chunks).toString()));
      });
    });
    outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error("no answer came")));
    outgoing.on("error", fail).end(frame);
    return promise;
  };

  return {
    within(budgetMs, { confidence = 0.99, beyondCap = "waits" } = {}) {
      const enter = createGate(beyondCap === "waits" ? maxInFlight : null);
      const header = { model, placementId, budgetMs, confidence };
      return {
        maxSamples: Math.min(rows, inputs.rowsWithin(LIMITS.inferBodyBytes - LIMITS.frameHeaderBytes)),
        query: (samples) => enter(() => post(encodeFrame(header, inputs.take(samples)), budgetMs + GRACE_MS)),
      };
    },
    close: () => agent.destroy(),
  };
}

/** Problem from the edge, or from a server in front of it. */
function problemOf(status: number, text: string): ProblemError {
  return parseProblem(text) ?? new ProblemError("backend-failed", `The edge answered ${status}.`);
}
