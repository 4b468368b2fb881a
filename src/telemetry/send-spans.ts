import { encodeSpans, type SpanResource } from "./encode-spans.ts";
import type { SpanQueue } from "./span-queue.ts";

/** Where spans are sent. */
export interface SpanTarget {
  /** Of an OpenTelemetry collector's traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Spans of one export, and exports that follow each other. */
const BATCH_SPANS = 512;
const EXPORTS = 8;
const TIMEOUT_MS = 2_000;

/**
 * Sends what waits, some exports after each other, unless the collector fails, is silent, or says no: what it was
 * offered then is dropped and counted. The rest waits for the next time. Never throws.
 */
export async function sendSpans(queue: SpanQueue, target: SpanTarget, resource: SpanResource): Promise<void> {
  for (let sent = 0; sent < EXPORTS && queue.size > 0; sent++) {
    const { spans, dropped } = queue.take(BATCH_SPANS);
    if (await post(target, encodeSpans(spans, resource, dropped))) continue;
    queue.drop(spans.length);
    return;
  }
}

async function post({ url, headers }: SpanTarget, body: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
