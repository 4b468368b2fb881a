import type { JobEvent, JobProgress } from "../../protocol/job.ts";
import { formatValue } from "../render/format-values.ts";
import type { Progress } from "../render/progress-line.ts";

/** An event of a job as progress that a person reads. */
export function describeEvent({ type, attempt, progress, detail }: JobEvent): Progress {
  if (progress !== null) {
    const { phase, done, total } = progress;
    return { what: phase, done, total, note: noteOf(progress) };
  }
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const what = type === "leased" ? `a runner has it${again}` : type;
  return { what: detail === null || detail === "" ? what : `${what}: ${detail}`, done: 0, total: 0 };
}

function noteOf({ candidatesLeft, best, point }: JobProgress): string | undefined {
  if (point !== undefined) {
    const fresh = point.fresh === null ? "" : `, ${formatValue(point.fresh)} on fresh episodes`;
    return `best ${formatValue(point.best)}${fresh}`;
  }
  if (best !== undefined) return `best ${formatValue(best.throughputPerS)}/s at ${formatValue(best.latencyMs)} ms`;
  return candidatesLeft === undefined ? undefined : `${candidatesLeft} candidates left`;
}
