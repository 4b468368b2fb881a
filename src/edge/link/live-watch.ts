import { LIMITS } from "../../protocol/wire/limits.ts";
import type { LiveRequest } from "../../protocol/link.ts";
import type { LiveEvent, LiveReport } from "../../protocol/fleet/health.ts";
import { EventFeed } from "../http/event-feed.ts";

const TOPIC = "live";
const EVERY_MS = 1_000;
/** A runner without a new request stops its reports after this time, whatever became of this object. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

/** Listeners to one runner's live reports; it asks the runner for reports while there are any. */
export class LiveWatch {
  readonly #feed = new EventFeed({ perOwner: LIMITS.liveWatchers, all: LIMITS.liveWatchers });
  readonly #ask: (request: LiveRequest) => void;
  #renewal: ReturnType<typeof setInterval> | null = null;

  /** `ask` reaches the runner if it is connected. */
  constructor(ask: (request: LiveRequest) => void) {
    this.#ask = ask;
  }

  /** A stream for another listener; null where their number is at its limit. */
  open(isConnected: boolean): Response | null {
    const state = toServerSentEvent({ type: isConnected ? "online" : "offline" });
    const response = this.#feed.open({ topic: TOPIC, owner: TOPIC }, [state]);
    if (response === null) return null;
    this.#renewal ??= setInterval(() => this.#renew(), RENEW_MS);
    this.#renew();
    return response;
  }

  /** Passes a report on; a runner without listeners is stopped. */
  receive(report: LiveReport): void {
    if (this.#feed.size > 0) this.#publish({ type: "report", report });
    else this.#request(0);
  }

  connected(): void {
    if (this.#feed.size === 0) return;
    this.#publish({ type: "online" });
    this.#renew();
  }

  disconnected(): void {
    this.#publish({ type: "offline" });
  }

  /** Ends all streams, since the runner was removed. */
  end(): void {
    this.#feed.close(TOPIC);
  }

  #renew(): void {
    if (this.#feed.size > 0) return this.#request(LEASE_MS);
    if (this.#renewal !== null) clearInterval(this.#renewal);
    this.#renewal = null;
    this.#request(0);
  }

  #request(forMs: number): void {
    this.#ask({ type: "liveRequest", everyMs: EVERY_MS, forMs });
  }

  #publish(event: LiveEvent): void {
    this.#feed.publish((topic) => topic === TOPIC, toServerSentEvent(event));
  }
}

function toServerSentEvent(event: LiveEvent) {
  return { event: event.type, data: event };
}
