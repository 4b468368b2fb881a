import type { Context } from "hono";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { toProblem } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { addAuditEntry } from "../store/audit-store.ts";
import { openProject } from "../store/database.ts";
import type { AppEnv } from "./bind.ts";

/** Does what an administrator asked for and writes down that it was asked, by whom, and how it ended. */
export async function audited<Reply>(
  c: Context<AppEnv>,
  env: ProjectEnv,
  { method, path, reply }: Pick<Endpoint, "method" | "path" | "reply">,
  act: () => Promise<Reply>,
): Promise<Reply> {
  const note = (status: number) =>
    addAuditEntry(openProject(env), {
      keyId: c.get("principalId"),
      action: `${method.toUpperCase()} ${path}`,
      path: c.req.path,
      status,
    });
  try {
    const done = await act();
    await note(done instanceof Response ? done.status : reply.status);
    return done;
  } catch (error) {
    await note(toProblem(error).status);
    throw error;
  }
}
