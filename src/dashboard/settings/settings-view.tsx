import type { ViewProps } from "../view-props.ts";

/** The view of keys, tokens, profiles and thresholds. */
export function SettingsView(_: ViewProps) {
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Settings</h1>
    </main>
  );
}
