import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { useState } from "preact/hooks";
import type { RegistrationToken } from "../../protocol/service/key.ts";
import { CommandBlock, Panel } from "../ui/panels.tsx";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { formatDuration } from "../../words/numbers.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { useNow } from "../ui/timestamp.tsx";
import { LacksAdmin, NOTHING_READ, type PartProps } from "./part-shell.tsx";

const MINUTE_MS = 60_000;
const SPANS = [
  [String(60 * MINUTE_MS), "an hour"],
  [String(15 * MINUTE_MS), "15 minutes"],
  [String(5 * MINUTE_MS), "5 minutes"],
] as const;

/** Tokens of registration: each lets one runner in, once, and shows the command for the other machine. */
export function TokenPart({ client, administers }: PartProps) {
  const [token, setToken] = useState<RegistrationToken | null>(null);
  const create = async (body: Record<string, unknown>) => {
    setToken(await client.call(runnerEndpoints.createRegistrationToken, { body }));
  };
  return (
    <Panel id="tokens" title="A token for a runner" resource={NOTHING_READ}>
      {administers ? (
        <>
          <p class="muted">
            A token registers one runner, once. It is never shown again, so another one is made for each machine.
          </p>
          <FieldForm
            label="New token"
            submit={token === null ? "Create a token" : "Create another token"}
            work={create}
            fields={[{ kind: "select", pointer: "#/ttlMs", label: "Good for", options: SPANS, isJson: true }]}
          />
          {token !== null && <Shown key={token.id} token={token} />}
        </>
      ) : (
        <LacksAdmin what="To let a runner in" />
      )}
    </Panel>
  );
}

function Shown({ token: { token, expiresAt } }: { token: RegistrationToken }) {
  const [endsAtMs] = useState(() => Date.parse(expiresAt));
  const leftMs = endsAtMs - useNow(true);
  if (leftMs <= 0)
    return (
      <p role="status" class="notice">
        This token has ended. A new one is made in a moment.
      </p>
    );
  return (
    <div class="secret">
      <p>
        <strong>Run this on the other machine</strong>, in a checkout of millrace. The token ends in{" "}
        <time dateTime={expiresAt}>{formatDuration(Math.ceil(leftMs / 1_000) * 1_000)}</time>.
      </p>
      <CommandBlock label="Command for the other machine" command={nextCommands.startRunner(token)} />
      <p class="muted">The runner keeps its own credential in its folder, and connects by itself from then on.</p>
    </div>
  );
}
