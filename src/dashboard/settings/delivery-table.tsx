import { webhookEndpoints } from "../../protocol/service/webhook-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Delivery } from "../../protocol/service/webhook.ts";
import { WordBadge } from "../ui/badges.tsx";
import type { Tone } from "../../words/tone.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";

const LISTED = 20;

const STATES: Record<Delivery["state"], readonly [Tone, string]> = {
  pending: ["busy", "waits"],
  delivered: ["good", "delivered"],
  "given-up": ["bad", "given up"],
};

/** Deliveries to a webhook, read on request. */
export function DeliveryTable({ client, id }: { client: Client; id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The latest messages</summary>
      {isOpen && <Deliveries client={client} id={id} />}
    </details>
  );
}

function Deliveries({ client, id }: { client: Client; id: string }) {
  const { value, error } = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(webhookEndpoints.listDeliveries, { params: { id }, query: { limit: LISTED }, signal }))
          .items,
      [client, id],
    ),
  );
  if (value === null) return <p class="muted">{error === null ? "Reading messages …" : error.message}</p>;
  if (value.length === 0) return <p class="muted">Nothing was sent in the last 30 days.</p>;
  return (
    <DataTable
      class="settings"
      rows={value}
      keyOf={({ id: message }) => message}
      columns={[
        { name: "Message", head: true, title: ({ id: message }) => message, cell: ({ event }) => event },
        { name: "State", cell: ({ state }) => <WordBadge says={STATES[state]} /> },
        { name: "Attempts", cell: ({ attempts }) => attempts },
        { name: "What came of it", cell: ({ lastOutcome }) => lastOutcome ?? "–" },
        { name: "Made", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
      ]}
    />
  );
}
