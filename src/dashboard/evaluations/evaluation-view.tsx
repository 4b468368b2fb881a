import type { ViewProps } from "../view-props.ts";

/** The view of evaluations and trainings. */
export function EvaluationView(_: ViewProps) {
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Evaluations</h1>
    </main>
  );
}
