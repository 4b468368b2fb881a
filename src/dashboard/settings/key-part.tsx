import { useCallback, useState } from "preact/hooks";
import { listAll } from "../../client/list-all.ts";
import { keyEndpoints } from "../../protocol/service/key-endpoints.ts";
import { type Key, Scope } from "../../protocol/service/key.ts";
import { Badge } from "../ui/badges.tsx";
import { ApiForm } from "../ui/forms/api-form.tsx";
import { ChoicesField, InputField } from "../ui/forms/field.tsx";
import { Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { ConfirmButton } from "../ui/buttons.tsx";
import { LacksAdmin, type PartProps, SecretNote } from "./part-shell.tsx";

const PAGE = 100;

const SCOPES: Record<Scope, string> = {
  infer: "infer: ask models and policies",
  read: "read: see everything, this page too",
  submit: "submit: jobs, kernels, rules and alerts",
  admin: "admin: all of these, and keys, runners and models",
};

/** API keys: who has one, what it may do, how to give it another secret, and how to take it away. */
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
          <ApiForm label="New key" submit="Create the key" work={create}>
            <InputField name="#/name" label="Name" hint="Who or what will use it" required />
            <ChoicesField
              name="#/scopes"
              label="Scopes"
              required
              options={Scope.options.map((scope) => [scope, SCOPES[scope]] as const)}
            />
            {operates && <InputField name="#/project" label="Project" hint="Empty: main" />}
          </ApiForm>
        ) : (
          <SecretNote title={`The key ${secret.name}.`} secret={secret.text} onClose={() => setSecret(null)} />
        )}
      </Panel>
      <Panel id="keys" title="Keys" resource={keys}>
        {failure !== null && (
          <p class="notice bad" role="alert">
            {failure}
          </p>
        )}
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
    <table class="settings">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Scopes</th>
          <th scope="col">State</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          <th scope="col">Rotate</th>
          <th scope="col">Revoke</th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, name, scopes, createdAt, lastUsedAt, oldSecretUntil, revokedAt }) => (
          <tr key={id}>
            <th scope="row">
              {name}
              <small>{id}</small>
            </th>
            <td data-label="Scopes">{scopes.join(", ")}</td>
            <td data-label="State">
              {revokedAt === null ? (
                <Badge tone="good">in force</Badge>
              ) : (
                <>
                  <Badge tone="quiet">revoked</Badge> <Timestamp at={revokedAt} />
                </>
              )}
            </td>
            <td data-label="Created">
              <Timestamp at={createdAt} />
            </td>
            <td data-label="Last used">
              {lastUsedAt === null ? <span class="muted">never</span> : <Timestamp at={lastUsedAt} />}
            </td>
            <td data-label="Rotate">
              {revokedAt === null ? (
                <ConfirmButton label={`Rotate the key ${name}`} work={() => rotate(id)} onDone={onDone} onFail={onFail}>
                  rotate
                </ConfirmButton>
              ) : (
                <span class="muted">–</span>
              )}
              {isAhead(oldSecretUntil) && (
                <small>
                  old secret until <Timestamp at={oldSecretUntil} />
                </small>
              )}
            </td>
            <td data-label="Revoke">
              {revokedAt === null ? (
                <ConfirmButton label={`Revoke the key ${name}`} work={() => revoke(id)} onDone={onDone} onFail={onFail}>
                  revoke
                </ConfirmButton>
              ) : (
                <span class="muted">–</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isAhead(instant: string | null): instant is string {
  return instant !== null && Date.parse(instant) > Date.now();
}
