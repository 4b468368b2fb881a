import type { Alert, AlertAction, AlertState } from "../../../protocol/alert.ts";

/** From which states an action leads to which one. */
const TRANSITIONS: Record<AlertAction, { readonly from: readonly AlertState[]; readonly to: AlertState }> = {
  acknowledge: { from: ["open", "muted"], to: "acknowledged" },
  dismiss: { from: ["open", "acknowledged", "muted"], to: "dismissed" },
  mute: { from: ["open", "acknowledged", "resolved", "dismissed"], to: "muted" },
  resolve: { from: ["open", "acknowledged", "muted"], to: "resolved" },
  reopen: { from: ["acknowledged", "resolved", "dismissed", "muted"], to: "open" },
};

/** The state that an action leads to; null where it cannot be done in this one. Of changes, their series are muted. */
export function changeState({ kind, state }: Pick<Alert, "kind" | "state">, action: AlertAction): AlertState | null {
  const { from, to } = TRANSITIONS[action];
  return from.includes(state) && (action !== "mute" || kind === "finding") ? to : null;
}
