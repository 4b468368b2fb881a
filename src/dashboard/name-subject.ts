import type { JobSubject } from "../protocol/job-subject.ts";

/** What is validated or optimised, by its name. */
export function nameSubject(subject: JobSubject): string {
  return subject.kind === "model" ? subject.model : subject.kernel;
}
