import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import type { ProjectEnv } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { eTagOf, isMatch, missingMatch, staleMatch, withETag } from "../http/version-tag.ts";
import { openProject } from "../store/database.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";
import { findModelOfProfile } from "../store/models/version-store.ts";
import {
  createProfile,
  deleteProfile,
  findProfile,
  listProfiles,
  updateProfile,
} from "../store/fleet/profile-store.ts";

export function bindProfiles(app: Hono<AppEnv>): void {
  bind(app, endpoints.createProfile, async ({ env, body }) => {
    const profile = await createProfile(openProject(env), body);
    if (profile === "full") throw await quotaExceeded(env, { profiles: 1 });
    if (profile === "taken") {
      const errors = [{ pointer: "#/name", message: "is taken" }];
      throw new ProblemError("conflict", `There is a profile ${body.name} already.`, { errors });
    }
    return withETag(profile, 201);
  });
  bind(app, endpoints.listProfiles, ({ env, query }) => listProfiles(openProject(env), query));
  bind(app, endpoints.getProfile, async ({ env, params }) => withETag(await mustFind(env, params.name), 200));

  bind(app, endpoints.updateProfile, async ({ env, params, headers, body }) => {
    const found = await mustFindOwn(env, params.name);
    const wanted = headers["if-match"];
    if (wanted === undefined) throw missingMatch("profile");
    const updated = isMatch(wanted, found)
      ? await updateProfile(openProject(env), found.name, found.version, body)
      : null;
    if (updated === null) throw staleMatch("profile", `is not the current ETag ${eTagOf(found)}`);
    return withETag(updated, 200);
  });

  bind(app, endpoints.deleteProfile, async ({ env, params }) => {
    await mustFindOwn(env, params.name);
    const db = openProject(env);
    const model = await findModelOfProfile(db, params.name);
    if (model !== null) {
      const errors = [{ pointer: "path/name", message: `places the model ${model}` }];
      throw new ProblemError("conflict", `The profile ${params.name} is in use.`, { errors });
    }
    await deleteProfile(db, params.name);
    return new Response(null, { status: 204 });
  });
}

async function mustFind(env: ProjectEnv, name: string): Promise<Profile> {
  const profile = await findProfile(openProject(env), name);
  if (profile === null) throw new ProblemError("not-found", `There is no profile ${name}.`);
  return profile;
}

async function mustFindOwn(env: ProjectEnv, name: string): Promise<Profile> {
  const profile = await mustFind(env, name);
  if (profile.builtIn)
    throw new ProblemError("conflict", `${name} is built in and stays as it is.`, {
      errors: [{ pointer: "path/name", message: "names a built-in profile" }],
    });
  return profile;
}
