import type { JobEvent } from "../../protocol/job.ts";
import { formatDuration, formatNumber } from "../format.ts";
import { Timestamp } from "../timestamp.tsx";
import type { JobHistory } from "./use-job-events.ts";

/** So many steps of progress are listed; the states of a job always are. */
const PROGRESS_SHOWN = 100;

const WORDS: Record<JobEvent["type"], string> = {
  queued: "queued",
  leased: "taken by a runner",
  progress: "progress",
  requeued: "queued again",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/** What happened to a job, the newest first, with the time since it was queued. */
export function EventLog({ history: { events, error } }: { history: JobHistory }) {
  const steps = events.filter(({ type }) => type === "progress");
  const firstShown = steps.at(-PROGRESS_SHOWN)?.seq ?? 0;
  const shown = events.filter(({ type, seq }) => type !== "progress" || seq >= firstShown);
  const left = events.length - shown.length;
  const beganMs = Date.parse(events[0]?.at ?? "");
  return (
    <>
      {error !== null && <p class="notice bad">{`Its events are no longer heard: ${error.message}`}</p>}
      <div class="log event-log" role="region" aria-label="Events" tabIndex={0}>
        <table class="points">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">After</th>
              <th scope="col">Attempt</th>
              <th scope="col">Event</th>
            </tr>
          </thead>
          <tbody>
            {shown.toReversed().map((event) => (
              <tr key={event.seq}>
                <td>
                  <Timestamp at={event.at} />
                </td>
                <td>{formatDuration(Date.parse(event.at) - beganMs)}</td>
                <td>{event.attempt === 0 ? "–" : event.attempt}</td>
                <td>{describeEvent(event)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 && <p class="muted">{`${left} earlier steps of progress are left out.`}</p>}
    </>
  );
}

function describeEvent({ type, progress, detail }: JobEvent): string {
  const said = detail === null ? "" : `: ${detail}`;
  if (progress === null) return `${WORDS[type]}${said}`;
  const { phase, done, total, candidatesLeft, point } = progress;
  const parts = [total > 0 ? `${phase} ${done} of ${total}` : phase];
  if (candidatesLeft !== undefined) parts.push(`${candidatesLeft} candidates left`);
  if (point !== undefined) parts.push(`best ${formatNumber(point.best)}, mean ${formatNumber(point.mean)}`);
  return parts.join(", ") + said;
}
