const KEEP_ALIVE_MS = 15_000;
const encoder = new TextEncoder();

/** One server-sent event (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

interface Subscriber {
  readonly topic: string;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
}

function toChunk({ id, event, data }: ServerSentEvent): Uint8Array {
  return encoder.encode(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Streams of server-sent events by topic, for the present listeners. */
export class EventFeed {
  readonly #subscribers = new Set<Subscriber>();
  #keepAlive: ReturnType<typeof setInterval> | null = null;

  /** Listeners of all topics. */
  get size(): number {
    return this.#subscribers.size;
  }

  /** A stream of `backlog` and later events; it ends after `backlog` where `over`. */
  open(topic: string, backlog: readonly ServerSentEvent[], over: boolean): Response {
    let subscriber: Subscriber | null = null;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(encoder.encode(": millrace\n\n"));
        for (const event of backlog) controller.enqueue(toChunk(event));
        if (over) return controller.close();
        subscriber = { topic, controller };
        this.#subscribers.add(subscriber);
        this.#keepAlive ??= setInterval(() => this.#send(() => true, encoder.encode(": alive\n\n")), KEEP_ALIVE_MS);
      },
      cancel: () => {
        if (subscriber !== null) this.#drop(subscriber);
      },
    });
    return new Response(stream, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
  }

  /** Sends an event to the listeners of each matching topic. */
  publish(isMeant: (topic: string) => boolean, event: ServerSentEvent): void {
    if (this.#subscribers.size > 0) this.#send(({ topic }) => isMeant(topic), toChunk(event));
  }

  /** Ends the streams of a topic. */
  close(topic: string): void {
    for (const subscriber of this.#subscribers) {
      if (subscriber.topic !== topic) continue;
      this.#drop(subscriber);
      subscriber.controller.close();
    }
  }

  #send(wants: (subscriber: Subscriber) => boolean, chunk: Uint8Array): void {
    for (const subscriber of this.#subscribers) {
      if (!wants(subscriber)) continue;
      try {
        subscriber.controller.enqueue(chunk);
      } catch {
        this.#drop(subscriber);
      }
    }
  }

  #drop(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0 && this.#keepAlive !== null) {
      clearInterval(this.#keepAlive);
      this.#keepAlive = null;
    }
  }
}
