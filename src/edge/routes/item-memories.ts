import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { rememberItems } from "../compute/remember-items.ts";
import { searchItems } from "../compute/search-items.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openProject } from "../store/database.ts";
import { deleteUnnamed } from "../store/job-artifact-store.ts";
import {
  createItemMemory,
  deleteItemMemory,
  describeItemMemory,
  listItemMemories,
  readItemMemory,
} from "../store/item-memory-store.ts";

export function bindItemMemories(app: Hono<AppEnv>): void {
  bind(app, endpoints.createItemMemory, async ({ env, body }) => {
    const created = await createItemMemory(openProject(env), body);
    if (created === "full") {
      throw new ProblemError("conflict", `There are ${LIMITS.itemMemories} item memories already: delete one first.`);
    }
    if (created === "taken") {
      const errors = [{ pointer: "#/name", message: "is taken" }];
      throw new ProblemError("conflict", `There is an item memory ${body.name} already.`, { errors });
    }
    return created;
  });
  bind(app, endpoints.listItemMemories, ({ env, query }) => listItemMemories(openProject(env), query));
  bind(app, endpoints.getItemMemory, async ({ env, params: { name } }) =>
    mustFind(name, await describeItemMemory(openProject(env), name)),
  );
  bind(app, endpoints.deleteItemMemory, async ({ env, params: { name } }) => {
    const digests = mustFind(name, await deleteItemMemory(openProject(env), name));
    await deleteUnnamed(env.DB, env.ARTIFACTS, digests);
    return new Response(null, { status: 204 });
  });

  bind(app, endpoints.addItems, async ({ c, env, params: { name }, body }) => {
    const db = openProject(env);
    await rememberItems(env, mustFind(name, await readItemMemory(db, name)), body, c.get("arrivedAtMs"));
    return mustFind(name, await describeItemMemory(db, name));
  });
  bind(app, endpoints.searchItems, async ({ c, env, params: { name }, body }) => {
    const memory = mustFind(name, await readItemMemory(openProject(env), name));
    return searchItems(env, memory, body, c.get("arrivedAtMs"));
  });
}

function mustFind<Found>(name: string, found: Found | null): Found {
  if (found === null) throw new ProblemError("not-found", `There is no item memory ${name}.`);
  return found;
}
