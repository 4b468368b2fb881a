import type { ViewProps } from "../view-props.ts";

/** The view of kernels. */
export function KernelView(_: ViewProps) {
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Kernels</h1>
    </main>
  );
}
