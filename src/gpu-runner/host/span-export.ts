import { setTimeout as delay } from "node:timers/promises";
import { VERSION } from "../../protocol/wire/release.ts";
import { sendSpans, SpanQueue, type SpanResource, type SpanTarget } from "../../telemetry/send-spans.ts";
import type { Span, SpanScope } from "../../telemetry/span.ts";
import { parseTraceparent } from "../../telemetry/trace-context.ts";

const QUEUED_SPANS = 16_384;
const FLUSH_EVERY_MS = 500;
const STOP_MS = 1_000;

/**
 * Sends the runner's spans to a collector in the background; those that the collector is too slow for are dropped and
 * counted.
 */
export class SpanExport {
  readonly #target: SpanTarget | null;
  readonly #resource: SpanResource;
  readonly #queue = new SpanQueue(QUEUED_SPANS);
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  /** Without a target nothing is traced. */
  constructor(target: SpanTarget | null, runnerId: string) {
    this.#target = target;
    this.#resource = {
      "service.name": "millrace-runner",
      "service.version": VERSION,
      "service.instance.id": runnerId,
    };
  }

  /** Scope for spans within the edge's span; null where it sent none, or one that is not sampled. */
  open(traceparent: string | undefined): SpanScope | null {
    const context = parseTraceparent(traceparent);
    if (this.#target === null || context?.sampled !== true) return null;
    // A clock that may be set jumps in the middle of a span, so it is only used for the trace's start.
    const originMs = Date.now() - performance.now();
    return { context, now: () => originMs + performance.now(), add: (span) => this.#add(span) };
  }

  /** Dropped spans since the start. */
  get dropped(): number {
    return this.#queue.dropped;
  }

  /** Sends the waiting spans, within a second. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.race([this.#sending.then(() => this.#flush()), delay(STOP_MS, undefined, { ref: false })]);
  }

  #add(span: Span): void {
    this.#queue.add({ ...span, attributes: { ...span.attributes, "millrace.clock": "runner-wall" } });
    this.#timer ??= setTimeout(() => {
      this.#sending = this.#flush().finally(() => {
        this.#timer = undefined;
      });
    }, FLUSH_EVERY_MS).unref();
  }

  async #flush(): Promise<void> {
    if (this.#target !== null) await sendSpans(this.#queue, this.#target, this.#resource);
  }
}
