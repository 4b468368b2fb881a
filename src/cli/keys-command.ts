import { Command, InvalidArgumentError } from "commander";
import { endpoints } from "../protocol/endpoints.ts";
import { Scope } from "../protocol/key.ts";
import { addEdge, type EdgeOptions, openEdge } from "./edge-options.ts";
import { listAll } from "./list-all.ts";
import { collect } from "./options/collect-option.ts";
import { formatAge } from "./render/format-values.ts";
import { renderTable } from "./render/render-table.ts";
import { PROCESS, type Shell } from "./shell.ts";

interface CreateOptions extends EdgeOptions {
  readonly name: string;
  readonly scope: readonly Scope[];
  readonly project?: string;
}

/** `millrace keys`: who may do what. */
export function keysCommand(shell: Shell = PROCESS): Command {
  return new Command("keys")
    .description("List, create and revoke API keys")
    .addCommand(listCommand(shell))
    .addCommand(createCommand(shell))
    .addCommand(revokeCommand(shell));
}

function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), "scope admin")
    .description("List keys, newest first; none of their secrets")
    .action(async (options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const keys = await listAll((cursor) => client.call(endpoints.listKeys, { query: { limit: 200, ...cursor } }));
      if (options.json) return shell.print(`${JSON.stringify(keys)}\n`);
      const rows = keys.map(({ id, name, scopes, createdAt, revokedAt }) => [
        name,
        scopes.join(", "),
        formatAge(createdAt),
        revokedAt === null ? "–" : formatAge(revokedAt),
        id,
      ]);
      shell.print(renderTable([["name", "scopes", "created", "revoked", "id"], ...rows], shell.columns));
    });
}

function createCommand(shell: Shell): Command {
  return addEdge(new Command("create"), "scope admin")
    .description("Create a key and print its secret, which nobody shows again")
    .requiredOption("--name <name>", "what it is for")
    .requiredOption("--scope <scope...>", "infer, submit, read or admin; one or more", collect(readScope))
    .option("--project <name>", "that it is for, as the operator; by default the project of the key at hand")
    .action(async ({ name, scope, project, ...options }: CreateOptions) => {
      const client = await openEdge(options, shell);
      const body = { name, scopes: [...new Set(scope)], ...(project !== undefined && { project }) };
      const key = await client.call(endpoints.createKey, { body });
      if (options.json) return shell.print(`${JSON.stringify(key)}\n`);
      shell.print(`${key.secret}\n`);
      shell.warn(
        `${key.id}: ${key.name} may ${key.scopes.join(", ")} in ${key.project}. The secret is not shown again.\n`,
      );
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
