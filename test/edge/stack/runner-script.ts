import { expect, vi } from "vitest";
import { decodeFrame, encodeFrame } from "../../../src/protocol/wire/frame.ts";
import {
  EdgeMessage,
  InferOffer,
  type JobOutcome,
  type Offer,
  PONG,
  parseText,
  type RunnerMessage,
} from "../../../src/protocol/link.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { benchmarkResult } from "./samples.ts";

/** Common interface of the sockets of Node and workerd. */
export interface ScriptSocket {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: any) => void): void;
}

type MessageOf<Type extends EdgeMessage["type"]> = Extract<EdgeMessage, { type: Type }>;

/** Time limit and interval of a test's polling. */
export const BOUND = { timeout: 40_000, interval: 5 };

/** A runner's end of a socket, driven by a test. */
export class RunnerScript {
  readonly socket: ScriptSocket;
  readonly received: EdgeMessage[] = [];
  readonly frames: Uint8Array[] = [];
  pongs = 0;
  closed: { code: number; reason: string } | null = null;

  constructor(socket: ScriptSocket) {
    this.socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") this.frames.push(new Uint8Array(data as ArrayBuffer));
      else if (data === PONG) this.pongs++;
      else this.received.push(parseOrThrow(data));
    });
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
    });
  }

  send(message: RunnerMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Takes the first received message of a type, waiting for it within bounds. */
  async next<Type extends EdgeMessage["type"]>(type: Type): Promise<MessageOf<Type>> {
    const index = await vi.waitFor(() => {
      const found = this.received.findIndex((message) => message.type === type);
      expect(found, `a message ${type} among ${JSON.stringify(this.received)}`).toBeGreaterThanOrEqual(0);
      return found;
    }, BOUND);
    return this.received.splice(index, 1)[0] as MessageOf<Type>;
  }

  /** Takes the first received frame, which requests an inference. */
  async nextInfer(): Promise<{ offer: InferOffer; payload: Uint8Array }> {
    await vi.waitFor(() => expect(this.frames.length).toBeGreaterThan(0), BOUND);
    const decoded = decodeFrame(this.frames.shift() ?? new Uint8Array());
    if (!decoded.ok) throw new Error(decoded.message);
    return { offer: InferOffer.parse(decoded.header), payload: decoded.payload };
  }

  async nextClose(): Promise<{ code: number; reason: string }> {
    return vi.waitFor(() => {
      if (this.closed === null) throw new Error("the socket is still open");
      return this.closed;
    }, BOUND);
  }

  succeed(
    { lease }: Pick<Offer, "lease">,
    result: Extract<JobOutcome["outcome"], { ok: true }>["result"] = benchmarkResult(),
  ): void {
    const startedAt = "2026-11-21T09:30:00.000Z";
    this.send({ type: "jobOutcome", lease, outcome: { ok: true, result, deviceKey: "gpu0", startedAt } });
  }

  /** `rows` are those of the batch that it was computed in. */
  answer({ requestId }: Pick<InferOffer, "requestId">, tensors: readonly Tensor[], backlogMs = 0, rows = 1): void {
    const times = { queueMs: 0.1, uploadMs: 0.1, computeMs: 0.2, readbackMs: 0.1 };
    this.socket.send(encodeFrame({ type: "inferResult", requestId, times, rows, backlogMs }, tensors));
  }
}

function parseOrThrow(text: string): EdgeMessage {
  const parsed = parseText(EdgeMessage, text);
  if (!parsed.ok) throw new Error(`the edge sent ${text}: ${parsed.reason}`);
  return parsed.message;
}
