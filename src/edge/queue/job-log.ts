import type { FeedEvent } from "../../protocol/feed.ts";
import type { JobEvent, JobProgress } from "../../protocol/job.ts";
import { EventFeed, type ServerSentEvent } from "./event-feed.ts";
import type { JobStore } from "./job-store.ts";
import { hasEnded, type JobRecord } from "./lease-machine.ts";

const GLOBAL_FEED = "feed";

/** Saves what happens to jobs, and tells whoever listens. */
export class JobLog {
  readonly #store: JobStore;
  readonly #feed = new EventFeed();

  constructor(store: JobStore) {
    this.#store = store;
  }

  /** Saves a transition and tells of it. */
  apply(before: JobRecord, after: JobRecord, detail: string | null): void {
    this.#store.save(after);
    if (before.state === after.state) return;
    this.record(after.id, after.state === "queued" ? "requeued" : after.state, detail);
    if (hasEnded(after)) this.#feed.close(after.id);
  }

  record(jobId: string, type: JobEvent["type"], detail: string | null, progress: JobProgress | null = null): void {
    const attempt = this.#store.findRecord(jobId)?.attempt ?? 0;
    const event = this.#store.addEvent({ type, attempt, progress, detail }, jobId, Date.now());
    this.#feed.publish(jobId, toServerSentEvent(event));
    this.announce({ type: "job", id: jobId });
  }

  announce(event: Omit<FeedEvent, "at">): void {
    this.#feed.publish(GLOBAL_FEED, { event: event.type, data: { ...event, at: new Date().toISOString() } });
  }

  /** Everything that changes from now on. */
  streamAll(): Response {
    return this.#feed.open(GLOBAL_FEED, [], false);
  }

  /** A job's events behind `afterSeq`, to its end. */
  streamJob(job: JobRecord, afterSeq: number): Response {
    const backlog = this.#store.eventsAfter(job.id, Number.isSafeInteger(afterSeq) ? afterSeq : 0);
    return this.#feed.open(job.id, backlog.map(toServerSentEvent), hasEnded(job));
  }
}

function toServerSentEvent(event: JobEvent): ServerSentEvent {
  return { id: String(event.seq), event: event.type, data: event };
}
