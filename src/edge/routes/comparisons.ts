import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { compareSides } from "../history/compare-sides.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import {
  createBaseline,
  deleteBaseline,
  findBaseline,
  listBaselines,
  updateBaseline,
} from "../store/baseline-store.ts";
import { openProject } from "../store/database.ts";

/** Comparing parts of the history, and names for what others are compared with. */
export function bindComparisons(app: Hono<AppEnv>): void {
  bind(app, endpoints.compareSeries, ({ env, query }) => compareSides(env, query));
  bind(app, endpoints.listBaselines, ({ env, query }) => listBaselines(openProject(env), query));

  bind(app, endpoints.getBaseline, async ({ env, params }) => {
    const baseline = await findBaseline(openProject(env), params.name);
    if (baseline === null) throw new ProblemError("not-found", `There is no baseline ${params.name}.`);
    return withETag(baseline, 200);
  });

  bind(app, endpoints.pinBaseline, async ({ env, params: { name }, headers, body }) => {
    const db = openProject(env);
    const wanted = headers["if-match"];
    const created = wanted === undefined ? await createBaseline(db, name, body) : null;
    if (created !== null) return withETag(created, 201);
    const found = await findBaseline(db, name);
    if (wanted === undefined)
      throw missingMatch("baseline", `There is a baseline ${name} already: to move it, send If-Match.`);
    const isCurrent = found !== null && isMatch(wanted, found);
    const updated = isCurrent ? await updateBaseline(db, name, found.version, body) : null;
    if (updated === null) {
      const why = found === null ? "names a baseline that is not there" : `is not the current ETag ${eTagOf(found)}`;
      throw staleMatch("baseline", why);
    }
    return withETag(updated, 200);
  });

  bind(app, endpoints.deleteBaseline, async ({ env, params }) => {
    const gone = await deleteBaseline(openProject(env), params.name);
    if (!gone) throw new ProblemError("not-found", `There is no baseline ${params.name}.`);
    return new Response(null, { status: 204 });
  });
}
