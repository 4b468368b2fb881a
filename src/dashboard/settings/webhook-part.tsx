import { webhookEndpoints } from "../../protocol/service/webhook-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { type CreatedWebhook, type Webhook, WebhookEvent } from "../../protocol/service/webhook.ts";
import { Badge } from "../ui/badges.tsx";
import { EmptyState } from "../ui/panels.tsx";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { DeliveryTable } from "./delivery-table.tsx";
import { type Closing, LacksAdmin, type PartProps, PartShell, SecretNote } from "./part-shell.tsx";

const LISTED = 100;
const DIRECTIONS = [
  ["", "both directions"],
  ["regression", "regressions alone"],
  ["improvement", "improvements alone"],
] as const;

/** Webhooks that receive alerts. */
export function WebhookPart({ client, administers }: PartProps) {
  const webhooks = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        administers
          ? (await client.call(webhookEndpoints.listWebhooks, { query: { limit: LISTED }, signal })).items
          : [],
      [client, administers],
    ),
  );
  const [made, setMade] = useState<CreatedWebhook | null>(null);
  return (
    <>
      {made !== null && (
        <section class="panel">
          <SecretNote
            title={`The secret that signs for ${made.url}.`}
            secret={made.secret}
            onClose={() => setMade(null)}
          />
        </section>
      )}
      <PartShell
        id="webhooks"
        title="Webhooks"
        noun="webhook"
        items={webhooks}
        explanation="Alerts are sent to these addresses as they open and close, signed as Standard Webhooks says, and again where they do not arrive."
        refusal={administers ? null : <LacksAdmin what="To see or change webhooks" />}
        nameOf={({ url }) => url}
        keyOf={({ id }) => id}
        canEdit={false}
        empty={
          administers && (
            <EmptyState says="No receiver of alerts yet." command={nextCommands.createWebhook}>
              Name an address here, or by this:
            </EmptyState>
          )
        }
        remove={({ id }) => client.call(webhookEndpoints.deleteWebhook, { params: { id } })}
        form={(_, closing) => <WebhookForm client={client} {...closing} onMade={setMade} />}
        table={(actions) => (
          <>
            {webhooks.value?.map((webhook) => (
              <WebhookItem key={webhook.id} client={client} webhook={webhook} actions={actions(webhook)} />
            ))}
          </>
        )}
      />
    </>
  );
}

interface WebhookFormProps extends Closing {
  readonly client: Client;
  readonly onMade: (webhook: CreatedWebhook) => void;
}

function WebhookForm({ client, onMade, onDone, onCancel }: WebhookFormProps) {
  const send = async (body: Record<string, unknown>) => {
    onMade(await client.call(webhookEndpoints.createWebhook, { body }));
    onDone();
  };
  return (
    <FieldForm
      label="New webhook"
      submit="Create the webhook"
      work={send}
      onCancel={onCancel}
      fields={[
        {
          kind: "text",
          pointer: "#/url",
          label: "Address",
          hint: "https, or http on the edge's own machine",
          required: true,
        },
        { kind: "select", pointer: "#/direction", label: "Of which alerts", options: DIRECTIONS },
        {
          kind: "choices",
          pointer: "#/events",
          label: "Tell of",
          required: true,
          options: WebhookEvent.options.map((event) => [event, event.replace("alert.", "")]),
          value: ["alert.opened", "alert.resolved"],
        },
      ]}
    />
  );
}

interface WebhookItemProps {
  readonly client: Client;
  readonly webhook: Webhook;
  readonly actions: preact.ComponentChildren;
}

function WebhookItem({ client, webhook: { id, url, events, direction, disabledAt }, actions }: WebhookItemProps) {
  const [said, setSaid] = useState("");
  const [sent, setSent] = useState(0);
  const ping = async () => {
    setSaid("Sending …");
    const told = await client.call(webhookEndpoints.pingWebhook, { params: { id } }).then(
      ({ delivered, outcome }) => `${delivered ? "It arrived" : "It did not arrive"}: ${outcome}.`,
      (error: unknown) => (error as Error).message,
    );
    setSaid(told);
    setSent(sent + 1);
  };
  return (
    <article class="webhook" aria-labelledby={id}>
      <h3 id={id}>{url}</h3>
      <p>
        <Badge tone={disabledAt === null ? "good" : "warn"}>
          {disabledAt === null ? "in force" : "disabled: its receiver answered 410"}
        </Badge>{" "}
        {events.map((event) => event.replace("alert.", "")).join(", ")}
        {direction !== undefined && `, ${direction}s alone`}
      </p>
      <div class="row-actions">
        <button type="button" aria-label={`Send a test message to ${url}`} onClick={() => void ping()}>
          test
        </button>
        {actions}
        <span role="status">{said}</span>
      </div>
      <DeliveryTable key={sent} client={client} id={id} />
    </article>
  );
}
