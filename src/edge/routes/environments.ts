import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { DescribedEnvironment, ListedEnvironment } from "../../protocol/policies/environment-definition.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import {
  addEnvironment,
  deleteEnvironment,
  findEnvironment,
  listStoredEnvironments,
  type StoredEnvironment,
} from "../store/models/environment-store.ts";
import { readAllCapabilities } from "../store/fleet/runner-store.ts";

export function bindEnvironments(app: Hono<AppEnv>): void {
  bind(app, endpoints.submitEnvironment, async ({ env, principal, body }) => {
    if ((await listAnnounced(env)).some(({ name }) => name === body.name)) throw nameTaken(body.name);
    const added = await addEnvironment(openProject(env), principal?.id ?? "", body);
    if (added === "name-taken") throw nameTaken(body.name);
    if (added === "too-many") {
      const detail = `This key has ${LIMITS.environmentsPerKey} environments: delete one first.`;
      throw new ProblemError("conflict", detail);
    }
    const { environment, created } = added;
    const headers = { location: `/v1/environments/${environment.id}` };
    return Response.json(describe(environment), { status: created ? 201 : 200, headers });
  });

  bind(app, endpoints.listEnvironments, async ({ env, query }) => {
    const { items, nextCursor } = await listStoredEnvironments(openProject(env), query);
    const submitted = items.map(toListed);
    // Announced environments come on the first page, beyond its limit, so that cursors name only stored ones.
    const announced = query.cursor === undefined ? await listAnnounced(env) : [];
    return { items: [...announced, ...submitted], nextCursor };
  });

  bind(app, endpoints.getEnvironment, async ({ env, params: { environment } }) => {
    const announced = (await listAnnounced(env)).find(({ name }) => name === environment);
    return announced ?? describe(await mustFind(env, environment));
  });

  bind(app, endpoints.deleteEnvironment, async ({ env, principal, params }) => {
    const { owner } = await mustFind(env, params.id);
    const mayDelete = principal?.kind === "key" && (principal.id === owner || principal.scopes.includes("admin"));
    if (!mayDelete) throw new ProblemError("forbidden", "This environment is another key's; an admin may delete it.");
    await deleteEnvironment(openProject(env), params.id);
    return new Response(null, { status: 204 });
  });
}

async function listAnnounced(env: ProjectEnv): Promise<ListedEnvironment[]> {
  const announced = (await readAllCapabilities(openProject(env))).flatMap(({ environments = [] }) => environments);
  const byName = new Map(announced.map((each) => [each.name, { ...each, source: "announced" } as const]));
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function toListed({ id, owner, createdAt, digest, definition }: StoredEnvironment): ListedEnvironment {
  const { wgsl: _, stateWords: __, ...environment } = definition;
  return { ...environment, digest, source: "submitted", id, owner, createdAt };
}

function describe(stored: StoredEnvironment): DescribedEnvironment {
  const { wgsl, stateWords } = stored.definition;
  return { ...toListed(stored), wgsl, stateWords };
}

async function mustFind(env: ProjectEnv, idOrName: string): Promise<StoredEnvironment> {
  const found = await findEnvironment(openProject(env), idOrName);
  if (found === null) throw new ProblemError("not-found", `There is no environment ${idOrName}.`);
  return found;
}

function nameTaken(name: string): ProblemError {
  return new ProblemError("conflict", `There is another environment with the name ${name}.`);
}
