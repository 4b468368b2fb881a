import { Command } from "commander";
import { listAll } from "../../client/list-all.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { formatAge } from "../render/format-values.ts";
import { renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { quotasCommand } from "./quotas-command.ts";

const SCOPE = "scope admin, of the project main";

/** `millrace projects`: the tenants of an edge. */
export function projectsCommand(shell: Shell = PROCESS): Command {
  return new Command("projects")
    .description("List, open and close projects, whose keys see nothing of each other's, and their quotas")
    .addCommand(listCommand(shell))
    .addCommand(createCommand(shell))
    .addCommand(closeCommand(shell))
    .addCommand(quotasCommand(shell));
}

function listCommand(shell: Shell): Command {
  return addEdge(new Command("list"), SCOPE)
    .description("List projects by name")
    .action(async (options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const projects = await Array.fromAsync(listAll(client, endpoints.listProjects, { query: { limit: 200 } }));
      if (options.json) return shell.print(`${JSON.stringify(projects)}\n`);
      const rows = projects.map(({ name, createdAt, closedAt }) => [
        name,
        formatAge(createdAt),
        closedAt === null ? "–" : formatAge(closedAt),
      ]);
      shell.print(renderTable([["name", "opened", "closed"], ...rows], shell.columns));
    });
}

function createCommand(shell: Shell): Command {
  return addEdge(new Command("create"), SCOPE)
    .description("Open a project; its first key is made with millrace keys create --project")
    .argument("<name>", "that no project had before")
    .action(async (name: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const project = await client.call(endpoints.createProject, { body: { name } });
      shell.print(options.json ? `${JSON.stringify(project)}\n` : `${project.name} is open\n`);
    });
}

function closeCommand(shell: Shell): Command {
  return addEdge(new Command("close"), SCOPE)
    .description("Revoke a project's keys for good, remove its runners and cancel its jobs; what it stored stays")
    .argument("<name>", "of the project")
    .action(async (name: string, options: EdgeOptions) => {
      const client = await openEdge(options, shell);
      const project = await client.call(endpoints.closeProject, { params: { name } });
      shell.print(options.json ? `${JSON.stringify(project)}\n` : `${project.name} is closed\n`);
    });
}
