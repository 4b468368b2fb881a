import type { FeedEvent } from "../../protocol/service/service-state.ts";
import type { JobEvent, JobProgress } from "../../protocol/jobs/job.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { toInstant } from "../clock.ts";
import { EventFeed, type ServerSentEvent } from "../http/event-feed.ts";
import { DEFAULT_QUOTAS } from "../store/quotas/default-quotas.ts";
import type { JobStore } from "./job-store.ts";
import { hasEnded, type JobRecord } from "./lease-machine.ts";
import type { ProjectTurns } from "./queue-tables.ts";

/** Topic prefix of a project's changes. Other topics are job ids, which have no slash. */
const FEED = "feed/";
/** Events from before that a stream reads at a time. */
const EVENTS_PAGE = 100;
/** Changes visible to every project: those of shared runners. */
export const ALL_PROJECTS = Symbol("all projects");
export type Audience = string | typeof ALL_PROJECTS;

/** Saves the events of jobs and publishes them to listeners. */
export class JobLog {
  readonly #store: JobStore;
  readonly #turns: Pick<ProjectTurns, "end">;
  readonly #now: () => number;
  readonly #feed = new EventFeed({ perOwner: DEFAULT_QUOTAS.eventStreams, all: LIMITS.streams });

  constructor(store: JobStore, turns: Pick<ProjectTurns, "end">, now: () => number) {
    this.#store = store;
    this.#turns = turns;
    this.#now = now;
  }

  /** Saves a transition and publishes it. */
  apply(before: JobRecord, after: JobRecord, detail: string | null): void {
    this.#store.save(after);
    if (before.state === after.state) return;
    if (before.state === "leased") this.#turns.end(before.id, this.#now());
    this.record(after.id, after.state === "queued" ? "requeued" : after.state, detail);
    if (hasEnded(after)) this.#feed.close(after.id);
  }

  record(jobId: string, type: JobEvent["type"], detail: string | null, progress: JobProgress | null = null): void {
    const attempt = this.#store.findRecord(jobId)?.attempt ?? 0;
    const event = this.#store.addEvent({ type, attempt, progress, detail }, jobId, this.#now());
    this.#feed.publish((topic) => topic === jobId, toServerSentEvent(event));
    const project = this.#store.projectOf(jobId);
    if (project !== null) this.announce({ type: "job", id: jobId }, project);
  }

  announce(event: Omit<FeedEvent, "at">, audience: Audience): void {
    const isMeant = (topic: string) =>
      audience === ALL_PROJECTS ? topic.startsWith(FEED) : topic === `${FEED}${audience}`;
    this.#feed.publish(isMeant, { event: event.type, data: { ...event, at: toInstant(this.#now()) } });
  }

  /** Open streams of a project. */
  countStreams(project: string): number {
    return this.#feed.countOf(project);
  }

  /**
   * Stream of all changes visible to a project, from now on; null where it has `most` streams, or all have too many.
   */
  streamAll(project: string, most: number): Response | null {
    return this.#feed.open({ topic: `${FEED}${project}`, owner: project, most });
  }

  /** Stream of a job's events after `afterSeq`, until the job ends; null as of `streamAll`. */
  streamJob(project: string, { id }: JobRecord, afterSeq: number, most: number): Response | null {
    let lastSeq = Number.isSafeInteger(afterSeq) ? afterSeq : 0;
    const readBefore = () => {
      const events = this.#store.eventsAfter(id, lastSeq, EVENTS_PAGE);
      lastSeq = events.at(-1)?.seq ?? lastSeq;
      return events.map(toServerSentEvent);
    };
    const isOver = () => {
      const record = this.#store.findRecord(id);
      return record === null || hasEnded(record);
    };
    return this.#feed.open({ topic: id, owner: project, most, readBefore, isOver });
  }
}

function toServerSentEvent(event: JobEvent): ServerSentEvent {
  return { id: String(event.seq), event: event.type, data: event };
}
