import type { ViewProps } from "../view-props.ts";

/** The view of runners. */
export function RunnerView(_: ViewProps) {
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Runners</h1>
    </main>
  );
}
