import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { webhookEndpoints } from "../../protocol/service/webhook-endpoints.ts";
import type { Delivery } from "../../protocol/service/webhook.ts";
import { Badge } from "../ui/badges.tsx";
import type { Tone } from "../../words/tone.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";

const LISTED = 20;

const STATES: Record<Delivery["state"], readonly [Tone, string]> = {
  pending: ["busy", "waits"],
  delivered: ["good", "delivered"],
  "given-up": ["bad", "given up"],
};

/** What was sent to a webhook, read once it is asked for. */
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
    <table class="settings">
      <thead>
        <tr>
          <th scope="col">Message</th>
          <th scope="col">State</th>
          <th scope="col">Attempts</th>
          <th scope="col">What came of it</th>
          <th scope="col">Made</th>
        </tr>
      </thead>
      <tbody>
        {value.map(({ id: message, event, state, attempts, lastOutcome, createdAt }) => (
          <tr key={message}>
            <th scope="row" title={message}>
              {event}
            </th>
            <td data-label="State">
              <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
            </td>
            <td data-label="Attempts">{attempts}</td>
            <td data-label="What came of it">{lastOutcome ?? "–"}</td>
            <td data-label="Made">
              <Timestamp at={createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
