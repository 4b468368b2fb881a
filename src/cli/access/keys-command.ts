import { Command, InvalidArgumentError } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { Scope } from "../../protocol/service/key.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { listAll } from "../../client/list-all.ts";
import { collect, numberBetween, wholeBetween } from "../options/option-values.ts";
import { formatAge } from "../render/format-values.ts";
import { renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface CreateOptions extends EdgeOptions {
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly rate?: number;
  readonly project?: string;
}

interface RotateOptions extends EdgeOptions {
  readonly overlap: number;
}

interface AuditOptions extends EdgeOptions {
  readonly of?: string;
  readonly last: number;
}

/** `millrace keys`: API keys and their scopes. */
export function keysCommand(shell: Shell = PROCESS): Command {
  return new Command("keys")
    .description("List, create, rotate and revoke API keys, and tell what administrators did")
    .addCommand(listCommand(shell))
    .addCommand(createCommand(shell))
    .addCommand(rotateCommand(shell))
    .addCommand(revokeCommand(shell))
    .addCommand(auditCommand(shell));
}

function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope admin")
    .description("List keys, newest first; none of their secrets")
    .action(async (options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const keys = await Array.fromAsync(listAll(client, endpoints.listKeys, { query: { limit: 200 } }));
      if (options.json) return shell.print(`${JSON.stringify(keys)}\n`);
      const rows = keys.map(({ id, name, scopes, createdAt, lastUsedAt, revokedAt }) => [
        name,
        scopes.join(", "),
        formatAge(createdAt),
        lastUsedAt === null ? "–" : formatAge(lastUsedAt),
        revokedAt === null ? "–" : formatAge(revokedAt),
        id,
      ]);
      shell.print(renderTable([["name", "scopes", "created", "used", "revoked", "id"], ...rows], shell.columns));
    });
}

function createCommand(shell: Shell): Command {
  return addEdge(new Command("create"), "scope admin")
    .description("Create a key and print its secret, which nobody shows again")
    .requiredOption("--name <name>", "what it is for")
    .requiredOption("--scope <scope...>", "infer, submit, read or admin; one or more", collect(readScope))
    .option(
      "--rate <n>",
      "requests a second, instead of the usual limit",
      numberBetween(0.001, LIMITS.keyRequestsPerSecond),
    )
    .option("--project <name>", "that it is for, as the operator; by default the project of the key at hand")
    .action(async ({ name, scope, rate, project, ...options }: CreateOptions) => {
      const client = await openEdge(options, shell);
      const body = {
        name,
        scopes: [...new Set(scope)],
        ...(rate !== undefined && { requestsPerSecond: rate }),
        ...(project !== undefined && { project }),
      };
      const key = await client.call(endpoints.createKey, { body });
      if (options.json) return shell.print(`${JSON.stringify(key)}\n`);
      shell.print(`${key.secret}\n`);
      shell.warn(
        `${key.id}: ${key.name} may ${key.scopes.join(", ")} in ${key.project}. The secret is not shown again.\n`,
      );
    });
}

function rotateCommand(shell: Shell): Command {
  return addEdge(new Command("rotate"), "scope admin")
    .description("Give a key a new secret and print it; the old one goes on working for a while")
    .argument("<id>", "of the key: key_…")
    .option(
      "--overlap <ms>",
      "how long the old secret works; 0 ends it within 30 seconds",
      wholeBetween(0, LIMITS.keyOverlapMs),
      86_400_000,
    )
    .action(async (id: string, { overlap, ...options }: RotateOptions) => {
      const client = await openEdge(options, shell);
      const key = await client.call(endpoints.rotateKey, { params: { id }, body: { overlapMs: overlap } });
      if (options.json) return shell.print(`${JSON.stringify(key)}\n`);
      shell.print(`${key.secret}\n`);
      shell.warn(`${key.id}: the old secret works until ${key.oldSecretUntil}. The new one is not shown again.\n`);
    });
}

function auditCommand(shell: Shell): Command {
  return addEdge(new Command("audit"), "scope admin")
    .description("What administrators did, newest first")
    .option("--of <key>", "only what this key did: its id")
    .option("--last <n>", "so many entries at most", wholeBetween(1, LIMITS.maxPageSize), LIMITS.defaultPageSize)
    .action(async ({ of, last, ...options }: AuditOptions) => {
      const client = await openEdge(options, shell);
      const query = { limit: last, ...(of !== undefined && { key: of }) };
      const { items } = await client.call(endpoints.listAuditEntries, { query });
      if (options.json) return shell.print(`${JSON.stringify(items)}\n`);
      const rows = items.map(({ at, key, action, path, status }) => [at, key ?? "–", action, path, String(status)]);
      shell.print(renderTable([["at", "key", "action", "path", "status"], ...rows], shell.columns));
    });
}

function revokeCommand(shell: Shell): Command {
  return addEdge(new Command("revoke"), "scope admin")
    .description("Revoke a key; it stops working within 30 seconds everywhere")
    .argument("<id>", "of the key: key_…")
    .action(async (id: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const key = await client.call(endpoints.revokeKey, { params: { id } });
      shell.print(options.json ? `${JSON.stringify(key)}\n` : `${key.id} ${key.name} is revoked\n`);
    });
}

function readScope(text: string): Scope {
  const scope = Scope.safeParse(text);
  if (scope.success) return scope.data;
  throw new InvalidArgumentError(`must be one of ${Scope.options.join(", ")}.`);
}
