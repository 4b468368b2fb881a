import { useCallback } from "preact/hooks";
import { keyEndpoints } from "../../protocol/service/key-endpoints.ts";
import { Badge } from "../ui/badges.tsx";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { LacksAdmin, type PartProps } from "./part-shell.tsx";

const SHOWN = 100;

/** What administrators of the project did, the latest first. */
export function AuditPart({ client, administers }: PartProps) {
  const acts = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        administers
          ? (await client.call(keyEndpoints.listAuditEntries, { query: { limit: SHOWN }, signal })).items
          : [],
      [client, administers],
    ),
  );
  return (
    <Panel id="audit" title="What was done" resource={acts}>
      {!administers && <LacksAdmin what="To see what administrators did" />}
      {administers && acts.value === null && acts.error === null && <p class="muted loading">Reading acts …</p>}
      {acts.value?.length === 0 && administers && <p class="muted">Nothing yet.</p>}
      {acts.value !== null && acts.value.length > 0 && (
        <table class="settings">
          <thead>
            <tr>
              <th scope="col">Act</th>
              <th scope="col">Key</th>
              <th scope="col">Outcome</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {acts.value.map(({ id, action, path, key, status, at }) => (
              <tr key={id}>
                <th scope="row">
                  {action}
                  <small>{path}</small>
                </th>
                <td data-label="Key">{key ?? "none"}</td>
                <td data-label="Outcome">
                  <Badge tone={status < 400 ? "good" : "bad"}>{status}</Badge>
                </td>
                <td data-label="When">
                  <Timestamp at={at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
