import { keyEndpoints } from "../../protocol/service/key-endpoints.ts";
import { useCallback } from "preact/hooks";
import { Badge } from "../ui/badges.tsx";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { LacksAdmin, type PartProps } from "./part-shell.tsx";
import { DataTable } from "../ui/data-table.tsx";

const SHOWN = 100;

/** Actions of the project's administrators, the latest first. */
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
        <DataTable
          class="settings"
          rows={acts.value}
          keyOf={({ id }) => id}
          columns={[
            { name: "Act", head: true, cell: ({ action }) => action, note: ({ path }) => path },
            { name: "Key", cell: ({ key }) => key ?? "none" },
            { name: "Outcome", cell: ({ status }) => <Badge tone={status < 400 ? "good" : "bad"}>{status}</Badge> },
            { name: "When", cell: ({ at }) => <Timestamp at={at} /> },
          ]}
        />
      )}
    </Panel>
  );
}
