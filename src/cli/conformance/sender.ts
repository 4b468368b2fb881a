import http from "node:http";
import https from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { Target } from "./target.ts";

/** End of one request. */
export interface Ended {
  /** HTTP status; 0 where the connection was refused or broke, −1 where it was closed from here. */
  readonly status: number;
  /** How late this process may have seen the end: the stall of its event loop right before. */
  readonly doubtMs: number;
}

/** Bounds on all traffic of a run, and how it is cut off. */
export interface Traffic {
  readonly maxRequests: number;
  readonly maxOpen: number;
  readonly maxMs: number;
  /** Whether connections are closed by a TCP reset, instead of in order. */
  readonly resets: boolean;
}

const CLOSED = -1;
/** How long after its deadline a request is given up that nothing else ends. */
const PATIENCE_MS = 30_000;
/** Idle connections are closed before servers close them: the shortest known limits are 2 s (Node) and 5 s (uvicorn). */
const IDLE_MS = 1_000;
/** Errors of this machine, not of the server: no local port, file or memory for a connection. */
const OWN_ERRORS = new Set(["EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/**
 * Sends requests of a target over node:http, whose connections can be closed one by one, and counts them. At a limit it
 * ends all that are open, and sends no more.
 */
export class Sender {
  readonly #target: Target;
  readonly #traffic: Traffic;
  readonly #agent: http.Agent;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #lag = new LagWatch();
  #sent = 0;
  #open = 0;

  constructor(target: Target, traffic: Traffic) {
    this.#target = target;
    this.#traffic = traffic;
    const settings = { keepAlive: true, maxFreeSockets: 256, timeout: IDLE_MS };
    this.#agent = target.url.protocol === "https:" ? new https.Agent(settings) : new http.Agent(settings);
    this.#timer = setTimeout(() => this.stop(`--max-s ${traffic.maxMs / 1e3} was reached`), traffic.maxMs);
  }

  get sent(): number {
    return this.#sent;
  }

  /** Whether more requests are open than a run may have. */
  get isFull(): boolean {
    return this.#open >= this.#traffic.maxOpen;
  }

  /** Aborted with the reason, in words, once no more is sent. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  stop(reason: string): void {
    this.#stop.abort(reason);
  }

  /** Waits so long, or until no more is sent. */
  async pause(durationMs: number): Promise<void> {
    await delay(durationMs, undefined, { signal: this.stopped }).catch(() => {});
  }

  /**
   * Sends one request that has so long to live. An aborted signal closes its connection. Never rejects.
   */
  send(
    deadlineMs: number,
    { signal, key = crypto.randomUUID() }: { signal?: AbortSignal; key?: string } = {},
  ): Promise<Ended> {
    if (this.#sent >= this.#traffic.maxRequests) this.stop(`--max-requests ${this.#traffic.maxRequests} was reached`);
    const signals = signal === undefined ? this.stopped : AbortSignal.any([this.stopped, signal]);
    if (signals.aborted) return Promise.resolve({ status: CLOSED, doubtMs: 0 });
    this.#open++;
    return this.#exchange(deadlineMs, key, signals).then((status) => {
      this.#open--;
      return { status, doubtMs: this.#lag.doubtMs() };
    });
  }

  /** One serial request with the beginning of its reply, to say what is wrong. */
  async ask(deadlineMs: number): Promise<{ readonly status: number; readonly text: string }> {
    let text = "";
    const status = await this.#exchange(deadlineMs, crypto.randomUUID(), this.stopped, (part) => (text += part));
    return { status, text: text.replaceAll(/\s+/g, " ").slice(0, 300) };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#lag.close();
    this.#agent.destroy();
  }

  #exchange(deadlineMs: number, key: string, signal: AbortSignal, read?: (text: string) => void): Promise<number> {
    const { url, method, write } = this.#target;
    this.#sent++;
    const { headers, body } = write(deadlineMs, key);
    if (body !== null) headers["content-length"] = String(Buffer.byteLength(body));
    const { promise, resolve } = Promise.withResolvers<number>();
    const open = url.protocol === "https:" ? https.request : http.request;
    const outgoing = open(url, { method, headers, agent: this.#agent }, (reply) => {
      if (read === undefined) reply.resume();
      else reply.setEncoding("utf8").on("data", read);
      reply.on("end", () => resolve(reply.statusCode ?? 0));
      reply.on("error", () => resolve(signal.aborted ? CLOSED : 0));
    });
    const closeNow = () => {
      if (this.#traffic.resets) outgoing.socket?.resetAndDestroy();
      outgoing.destroy();
      resolve(CLOSED);
    };
    signal.addEventListener("abort", closeNow, { once: true });
    const patience = setTimeout(closeNow, deadlineMs + PATIENCE_MS);
    outgoing.on("error", (error) => {
      const own = findOwnError(error);
      if (own !== null) this.stop(`this machine could open no more connections (${own})`);
      resolve(signal.aborted ? CLOSED : 0);
    });
    outgoing.end(body ?? undefined);
    return promise.finally(() => {
      clearTimeout(patience);
      signal.removeEventListener("abort", closeNow);
    });
  }
}

/** The code of an error that is this machine's own; of a name with several addresses all must be. */
export function findOwnError(error: Error): string | null {
  const codes = (error instanceof AggregateError ? error.errors : [error]).map(({ code }) => String(code));
  return codes.every((code) => OWN_ERRORS.has(code)) ? codes.join(", ") : null;
}

const TICK_MS = 2;
/** Shorter ones are a timer's own. */
const LEAST_STALL_MS = 4;
/** Replies that came in a stall are handled this soon behind it. */
const AFTERMATH_MS = 10;

/** Watches how long this process' event loop stands still: a reply that came meanwhile is seen late. */
class LagWatch {
  #lastMs = performance.now();
  #stall = { endMs: 0, durationMs: 0 };
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  /** Upper bound of how much earlier than now something may have come. */
  doubtMs(): number {
    const nowMs = performance.now();
    const sinceMs = nowMs - this.#lastMs - TICK_MS;
    const stallMs = nowMs - this.#stall.endMs <= AFTERMATH_MS ? this.#stall.durationMs : 0;
    return Math.max(sinceMs > LEAST_STALL_MS ? sinceMs : 0, stallMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const nowMs = performance.now();
    const stallMs = nowMs - this.#lastMs - TICK_MS;
    if (stallMs > LEAST_STALL_MS) this.#stall = { endMs: nowMs, durationMs: stallMs };
    this.#lastMs = nowMs;
  }
}
