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
  const note = async (status: number) => {
    const entry = { keyId: c.get("principalId"), action: `${method.toUpperCase()} ${path}`, path: c.req.path, status };
    try {
      await addAuditEntry(openProject(env), entry);
    } catch (error) {
      // It is done, and may have made a secret that is told once: the log has it at least.
      console.error(JSON.stringify({ event: "audit-entry-lost", ...entry, error: String(error) }));
    }
  };
  // Handlers may also throw at once.
  const [outcome] = await Promise.allSettled([(async () => act())()]);
  if (outcome.status === "rejected") {
    await note(toProblem(outcome.reason).status);
    throw outcome.reason;
  }
  const done = outcome.value;
  await note(done instanceof Response ? done.status : reply.status);
  return done;
}
