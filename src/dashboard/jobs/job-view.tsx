import type { ViewProps } from "../view-props.ts";

/** The view of jobs. */
export function JobView(_: ViewProps) {
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Jobs</h1>
    </main>
  );
}
