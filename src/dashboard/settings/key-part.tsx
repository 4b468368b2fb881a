import { keyEndpoints } from "../../protocol/service/key-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import { listAll } from "../../client/list-all.ts";
import { type Key, Scope } from "../../protocol/service/key.ts";
import { Badge } from "../ui/badges.tsx";
import { FieldForm } from "../ui/forms/field-form.tsx";
import { Panel, Refusal } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { ConfirmButton } from "../ui/buttons.tsx";
import { LacksAdmin, type PartProps, SecretNote } from "./part-shell.tsx";
import { DataTable } from "../ui/data-table.tsx";

const PAGE = 100;

const SCOPES: Record<Scope, string> = {
  infer: "infer: ask models and policies",
  read: "read: see everything, this page too",
  submit: "submit: jobs, kernels, rules and alerts",
  admin: "admin: all of these, and keys, runners and models",
};

/** API keys: owner and scopes, with rotation and revocation. */
export function KeyPart({ client, administers, operates }: PartProps) {
  const keys = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        administers ? Array.fromAsync(listAll(client, keyEndpoints.listKeys, { query: { limit: PAGE }, signal })) : [],
      [client, administers],
    ),
  );
  const [secret, setSecret] = useState<{ readonly name: string; readonly text: string } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  if (!administers)
    return (
      <Panel id="keys" title="Keys" resource={keys}>
        <LacksAdmin what="To see, create or revoke keys" />
      </Panel>
    );
  const create = async (body: Record<string, unknown>) => {
    const made = await client.call(keyEndpoints.createKey, { body });
    setSecret({ name: made.name, text: made.secret });
    keys.refresh();
  };
  const rotate = async (id: string) => {
    const { name, secret: text } = await client.call(keyEndpoints.rotateKey, { params: { id }, body: {} });
    setSecret({ name, text });
  };
  return (
    <>
      <Panel id="new-key" title={secret === null ? "New key" : "New secret"} resource={keys}>
        {secret === null ? (
          <FieldForm
            label="New key"
            submit="Create the key"
            work={create}
            fields={[
              { kind: "text", pointer: "#/name", label: "Name", hint: "Who or what will use it", required: true },
              {
                kind: "choices",
                pointer: "#/scopes",
                label: "Scopes",
                required: true,
                options: Scope.options.map((scope) => [scope, SCOPES[scope]]),
              },
              ...(operates
                ? [{ kind: "text", pointer: "#/project", label: "Project", hint: "Empty: main" } as const]
                : []),
            ]}
          />
        ) : (
          <SecretNote title={`The key ${secret.name}.`} secret={secret.text} onClose={() => setSecret(null)} />
        )}
      </Panel>
      <Panel id="keys" title="Keys" resource={keys}>
        <Refusal text={failure} />
        {keys.value === null && keys.error === null && <p class="muted loading">Reading keys …</p>}
        {keys.value !== null && (
          <KeyTable
            keys={keys.value}
            rotate={rotate}
            revoke={(id) => client.call(keyEndpoints.revokeKey, { params: { id } })}
            onDone={() => {
              setFailure(null);
              keys.refresh();
            }}
            onFail={setFailure}
          />
        )}
      </Panel>
    </>
  );
}

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly rotate: (id: string) => Promise<unknown>;
  readonly revoke: (id: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onFail: (message: string) => void;
}

function KeyTable({ keys, rotate, revoke, onDone, onFail }: KeyTableProps) {
  return (
    <DataTable
      class="settings"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { name: "Name", head: true, cell: ({ name }) => name, note: ({ id }) => id },
        { name: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
        {
          name: "State",
          cell: ({ revokedAt }) =>
            revokedAt === null ? (
              <Badge tone="good">in force</Badge>
            ) : (
              <>
                <Badge tone="quiet">revoked</Badge> <Timestamp at={revokedAt} />
              </>
            ),
        },
        { name: "Created", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
        {
          name: "Last used",
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? <span class="muted">never</span> : <Timestamp at={lastUsedAt} />,
        },
        {
          name: "Rotate",
          cell: ({ id, name, revokedAt }) =>
            revokedAt === null ? (
              <ConfirmButton label={`Rotate the key ${name}`} work={() => rotate(id)} onDone={onDone} onFail={onFail}>
                rotate
              </ConfirmButton>
            ) : (
              <span class="muted">–</span>
            ),
          note: ({ oldSecretUntil }) =>
            isAhead(oldSecretUntil) && (
              <>
                old secret until <Timestamp at={oldSecretUntil} />
              </>
            ),
        },
        {
          name: "Revoke",
          cell: ({ id, name, revokedAt }) =>
            revokedAt === null ? (
              <ConfirmButton label={`Revoke the key ${name}`} work={() => revoke(id)} onDone={onDone} onFail={onFail}>
                revoke
              </ConfirmButton>
            ) : (
              <span class="muted">–</span>
            ),
        },
      ]}
    />
  );
}

function isAhead(instant: string | null): instant is string {
  return instant !== null && Date.parse(instant) > Date.now();
}
