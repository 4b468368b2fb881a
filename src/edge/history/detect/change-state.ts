import type { AlertAction, AlertState } from "../../../protocol/alert.ts";

/** From which states an action leads to which one. */
const TRANSITIONS: Record<AlertAction, { readonly from: readonly AlertState[]; readonly to: AlertState }> = {
  acknowledge: { from: ["open", "muted"], to: "acknowledged" },
  dismiss: { from: ["open", "acknowledged", "muted"], to: "dismissed" },
  resolve: { from: ["open", "acknowledged", "muted"], to: "resolved" },
  reopen: { from: ["acknowledged", "resolved", "dismissed", "muted"], to: "open" },
};

/** The state that an action leads to; null where it cannot be done in this one. */
export function changeState(state: AlertState, action: AlertAction): AlertState | null {
  const { from, to } = TRANSITIONS[action];
  return from.includes(state) ? to : null;
}
