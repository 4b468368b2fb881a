import type { JobProgress } from "../protocol/job.ts";

/** How far a job is: a bar, its phase and the counts. */
export function ProgressLine({ progress: { phase, done, total, candidatesLeft } }: { progress: JobProgress }) {
  const left = candidatesLeft === undefined ? "" : `, ${candidatesLeft} left`;
  return (
    <span class="progress">
      <progress aria-label={phase} value={done} max={Math.max(1, total)} />
      <small>{total > 0 ? `${phase} ${done}/${total}${left}` : phase}</small>
    </span>
  );
}
