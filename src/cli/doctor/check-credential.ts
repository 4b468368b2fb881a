import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { createClient } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { parseJson } from "../../protocol/parse-json.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { Registration } from "../../protocol/runner.ts";
import { fail, ok, skip, type Verdict, warn } from "./finding.ts";
import type { Patient } from "./patient.ts";

const Stored = Registration.extend({ edgeUrl: z.url() });
/** Nobody's: the edge answers 404 to a runner that it knows, and 401 to others. */
const NO_ARTIFACT = `sha256:${"0".repeat(64)}`;
const ADVICE = "Register anew: `millrace runner start --edge <address> --token <token>`, with a token of that edge.";

/** Whether the runner that was registered on this machine is known at its edge. */
export async function checkCredential({ runnerDir, fetch }: Patient): Promise<Verdict> {
  const path = join(runnerDir, "credential.json");
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error);
  if (typeof text !== "string") {
    if (text.code === "ENOENT") return skip(`no runner was registered in ${runnerDir}`);
    return fail(`${path} cannot be read: ${text.message}`, "Give it to the user that the runner is started by.");
  }
  const stored = Stored.safeParse(parseJson(text));
  if (!stored.success) return fail(`${path} is damaged`, `Delete it. ${ADVICE}`);
  const { edgeUrl, credential, runnerId } = stored.data;
  const client = createClient({ baseUrl: edgeUrl, key: credential, fetch });
  const answer = await client
    .send(endpoints.downloadArtifact, { params: { digest: NO_ARTIFACT } })
    .then(() => null, codeOf);
  if (answer === "unauthorized") return fail(`${edgeUrl} does not know ${runnerId}: it was removed there`, ADVICE);
  if (answer === null || answer === "not-found") return ok(`${runnerId} is known at ${edgeUrl}`);
  return warn(`${runnerId} could not be tried at ${edgeUrl}: ${answer}`, "Look whether that edge can be reached.");
}

function codeOf(error: unknown): string {
  return error instanceof ProblemError ? error.problem.code : error instanceof Error ? error.message : String(error);
}
