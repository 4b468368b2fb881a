import { type Intervals, type Lease, PING, type RunnerMessage, SILENT_PINGS } from "../../protocol/link.ts";

/** Current connection to the edge, through which the parts of a session send. */
export class LinkChannel {
  #socket: WebSocket | null = null;

  attach(socket: WebSocket): void {
    this.#socket = socket;
  }

  detach(): void {
    this.#socket = null;
  }

  /** Sends a message; false where there is no connection now. */
  send(message: RunnerMessage): boolean {
    return this.sendRaw(JSON.stringify(message));
  }

  sendRaw(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(data);
    return true;
  }
}

/**
 * Keep-alive of one connection: pings, which the platform answers, and heartbeats, which renew the leases of running
 * jobs. Call `note` when anything was received; `onSilent` is called when nothing was.
 */
export function startHeartbeat(
  channel: LinkChannel,
  intervals: Intervals,
  running: () => Lease[],
  onSilent: () => void,
): { note(): void; stop(): void } {
  const { pingMs } = intervals;
  let [heardAtMs, tickedAtMs] = [performance.now(), performance.now()];
  const ping = setInterval(() => {
    const nowMs = performance.now();
    // If this process itself stood still, what it was sent may be there, unread: timers come before sockets.
    const isLate = nowMs - tickedAtMs > 2 * pingMs;
    tickedAtMs = nowMs;
    if (!isLate && nowMs - heardAtMs > SILENT_PINGS * pingMs) onSilent();
    else channel.sendRaw(PING);
  }, pingMs);
  const beat = setInterval(() => channel.send({ type: "heartbeat", running: running() }), intervals.heartbeatMs);
  return {
    note: () => {
      heardAtMs = performance.now();
    },
    stop: () => {
      clearInterval(ping);
      clearInterval(beat);
    },
  };
}

const ECHO_TIMEOUT_MS = 5_000;

/** Measures the link by messages that the edge's object echoes. */
export class LinkProbe {
  readonly #channel: LinkChannel;
  readonly #waiting = new Map<number, () => void>();
  #nextId = 0;

  constructor(channel: LinkChannel) {
    this.#channel = channel;
  }

  /** Round trips in milliseconds on the monotonic clock, one after the other. Throws when one is lost. */
  async measureMs(count: number, signal: AbortSignal): Promise<number[]> {
    const samples: number[] = [];
    for (let i = 0; i < count; i++) {
      signal.throwIfAborted();
      const startMs = performance.now();
      await this.#echo();
      samples.push(performance.now() - startMs);
    }
    return samples;
  }

  /** Handles the edge's `echoReply`. */
  answered(id: number): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }

  #echo(): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error("an echo was lost"));
      }, ECHO_TIMEOUT_MS);
      this.#waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
      this.#channel.send({ type: "echo", id });
    });
  }
}
