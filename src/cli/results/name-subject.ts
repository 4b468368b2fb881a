import type { JobSubject } from "../../protocol/job-subject.ts";
import { formatSizes } from "../render/format-values.ts";

/** A model, or a kernel with its sizes. */
export function nameSubject(subject: JobSubject): string {
  return subject.kind === "model" ? subject.model : `${subject.kernel} ${formatSizes(subject.shape)}`.trim();
}
