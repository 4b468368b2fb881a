import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { openProject } from "../store/database.ts";
import {
  createRequirementSet,
  deleteRequirementSet,
  findRequirementSet,
  listRequirementSets,
  updateRequirementSet,
} from "../store/fleet/requirement-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";

export function bindRequirements(app: Hono<AppEnv>): void {
  bind(app, endpoints.createRequirements, async ({ env, body }) => {
    const created = await createRequirementSet(openProject(env), body);
    if (created === "full") throw await quotaExceeded(env, { requirementSets: 1 });
    if (created === "taken") {
      const errors = [{ pointer: "#/name", message: "is taken" }];
      throw new ProblemError("conflict", `There is a requirement set ${body.name} already.`, { errors });
    }
    return withETag(created, 201);
  });
  bind(app, endpoints.listRequirements, ({ env, query }) => listRequirementSets(openProject(env), query));
  bind(app, endpoints.getRequirements, async ({ env, params }) =>
    withETag(mustFind(params.name, await findRequirementSet(openProject(env), params.name))),
  );

  bind(app, endpoints.updateRequirements, async ({ env, params: { name }, headers, body }) => {
    const db = openProject(env);
    const found = mustFind(name, await findRequirementSet(db, name));
    const wanted = headers["if-match"];
    if (wanted === undefined) throw missingMatch("requirement set");
    const updated = isMatch(wanted, found) ? await updateRequirementSet(db, name, found.version, body) : null;
    if (updated === null) throw staleMatch("requirement set", `is not the current ETag ${eTagOf(found)}`);
    return withETag(updated);
  });

  bind(app, endpoints.deleteRequirements, async ({ env, params: { name } }) => {
    mustFind(name, (await deleteRequirementSet(openProject(env), name)) || null);
    return new Response(null, { status: 204 });
  });
}

function mustFind<Found>(name: string, found: Found | null): Found {
  if (found === null) throw new ProblemError("not-found", `There is no requirement set ${name}.`);
  return found;
}
