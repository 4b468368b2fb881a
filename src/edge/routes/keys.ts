import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { forgetCachedKeys } from "../http/auth.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { createKey, listKeys, revokeKey } from "../store/key-store.ts";

export function bindKeys(app: Hono<AppEnv>): void {
  bind(app, endpoints.createKey, ({ env, body }) => createKey(openDatabase(env.DB), body));
  bind(app, endpoints.listKeys, ({ env, query }) => listKeys(openDatabase(env.DB), query));
  bind(app, endpoints.revokeKey, async ({ env, params }) => {
    const key = await revokeKey(openDatabase(env.DB), params.id);
    if (key === null) throw new ProblemError("not-found", `There is no key ${params.id}.`);
    forgetCachedKeys();
    return key;
  });
}
