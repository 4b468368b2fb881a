import type { Alert } from "../../protocol/alert.ts";
import { FINDING_WORDS, nameAlert } from "../alert-words.ts";
import { writeAddress } from "../page-address.ts";
import { Panel } from "../panel.tsx";
import { Timestamp } from "../timestamp.tsx";
import type { Resource } from "../use-resource.ts";

/** Alerts that nobody has looked at yet, each with the way to its evidence. */
export function OpenAlertPanel({ alerts }: { alerts: Resource<readonly Alert[]> }) {
  const { value } = alerts;
  return (
    <Panel
      id="open-alerts"
      title="Open alerts"
      resource={alerts}
      aside={<a href={writeAddress({ view: "alerts" })}>All alerts</a>}
    >
      {value?.length === 0 && <p class="muted">Nothing has moved, and nothing is wrong that the watch knows.</p>}
      {value !== null && value.length > 0 && (
        <ul class="open-alerts">
          {value.map((alert) => (
            <li key={alert.id}>
              <a href={writeAddress({ view: "alerts", state: "open", alert: alert.id })}>{titleOf(alert)}</a>{" "}
              {alert.summary}{" "}
              <span class="muted">
                since <Timestamp at={alert.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** A finding's summary names its subject already. */
function titleOf(alert: Alert): string {
  return alert.finding === null ? nameAlert(alert) : FINDING_WORDS[alert.finding.kind];
}
