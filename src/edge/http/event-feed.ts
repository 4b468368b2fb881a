/** Bytes that a listener leaves unread at which its stream ends: all streams together fit the object's memory. */
export const UNREAD_BYTES = 65_536;
const KEEP_ALIVE_MS = 15_000;
const encoder = new TextEncoder();
const ALIVE = encoder.encode(": alive\n\n");

/** One server-sent event (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

interface Listener {
  readonly topic: string;
  /** Whose limit of streams it counts towards. */
  readonly owner: string;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** False while it reads what was before: later events are among that. */
  isLive: boolean;
}

function toChunk({ id, event, data }: ServerSentEvent): Uint8Array {
  return encoder.encode(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Number of streams at once: of one owner, and of all. */
interface FeedLimits {
  readonly perOwner: number;
  readonly all: number;
}

/** A stream to open. */
interface Opening extends Pick<Listener, "topic" | "owner"> {
  /** Number of streams that its owner may have; absent: as many as any. */
  readonly most?: number;
  /** The next events from before, none once all were read; absent where there are none. */
  readonly readBefore?: () => readonly ServerSentEvent[];
  /** Whether the stream ends once these were read. */
  readonly isOver?: () => boolean;
}

/** Streams of server-sent events by topic, for the present listeners. */
export class EventFeed {
  readonly #listeners = new Set<Listener>();
  readonly #limits: FeedLimits;
  #keepAlive: ReturnType<typeof setInterval> | null = null;

  constructor(limits: FeedLimits) {
    this.#limits = limits;
  }

  /** Open streams of all topics. */
  get size(): number {
    return this.#listeners.size;
  }

  /**
   * A stream of the events from before and of later ones. What is from before is read as the listener reads it; one that
   * leaves `UNREAD_BYTES` unread when more comes is cut off. Null where the owner, or all of them, have as many streams
   * as they may.
   */
  open(
    { topic, owner, most = this.#limits.perOwner, readBefore, isOver = () => false }: Opening,
    first: readonly ServerSentEvent[] = [],
  ): Response | null {
    if (this.size >= this.#limits.all || this.countOf(owner) >= most) return null;
    let listener: Listener;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          // First: the runtime may pull within `enqueue`.
          listener = { topic, owner, controller, isLive: readBefore === undefined };
          this.#listeners.add(listener);
          this.#keepAlive ??= setInterval(() => this.#send(({ isLive }) => isLive, ALIVE), KEEP_ALIVE_MS);
          controller.enqueue(encoder.encode(": millrace\n\n"));
          for (const event of first) controller.enqueue(toChunk(event));
        },
        pull: (controller) => {
          if (listener.isLive) return;
          const events = readBefore?.() ?? [];
          for (const event of events) controller.enqueue(toChunk(event));
          if (events.length > 0) return;
          if (!isOver()) {
            listener.isLive = true;
            return;
          }
          this.#end(listener, () => controller.close());
        },
        cancel: () => this.#drop(listener),
      },
      { highWaterMark: UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    );
    return new Response(stream, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
  }

  /** Open streams of an owner. */
  countOf(owner: string): number {
    return [...this.#listeners].filter((listener) => listener.owner === owner).length;
  }

  /** Sends an event to the listeners of each matching topic. */
  publish(isMeant: (topic: string) => boolean, event: ServerSentEvent): void {
    if (this.size > 0) this.#send(({ topic, isLive }) => isLive && isMeant(topic), toChunk(event));
  }

  /** Ends the streams of a topic; one that still reads what was before ends behind that. */
  close(topic: string): void {
    for (const listener of this.#listeners) {
      if (listener.topic === topic && listener.isLive) this.#end(listener, (controller) => controller.close());
    }
  }

  #send(wants: (listener: Listener) => boolean, chunk: Uint8Array): void {
    for (const listener of this.#listeners) {
      if (!wants(listener)) continue;
      if ((listener.controller.desiredSize ?? 0) > 0) {
        if (!attempt(() => listener.controller.enqueue(chunk))) this.#drop(listener);
        continue;
      }
      // What it does not read would stay in memory. It may come again, and ask for what it missed.
      this.#end(listener, (controller) => controller.error(new Error("the listener reads too slowly")));
    }
  }

  #end(listener: Listener, end: (controller: Listener["controller"]) => void): void {
    this.#drop(listener);
    attempt(() => end(listener.controller));
  }

  #drop(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0 && this.#keepAlive !== null) {
      clearInterval(this.#keepAlive);
      this.#keepAlive = null;
    }
  }
}

/** Runs work on a stream; false where it failed, since the client has closed the connection. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
