import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nameDamagedCredential, nameFolderFault, nameUnknownCredential } from "../../checkup/judge-host.ts";
import { CREDENTIAL_FILE, findRunnerOf, readToldFaults, StoredCredential } from "../../checkup/runner-folder.ts";
import { FOLDER_SETTING } from "../../checkup/runner-settings.ts";
import { createClient } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { fail, judge, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

/** Digest of no artifact: the edge answers 404 to a runner that it knows, and 401 to others. */
const NO_ARTIFACT = `sha256:${"0".repeat(64)}`;

/** Whether the edge knows this machine's registered runner. */
export async function checkCredential({ runnerDir, fetch }: Patient): Promise<Verdict> {
  const path = join(runnerDir, CREDENTIAL_FILE);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error);
  if (typeof text !== "string") {
    if (text.code === "ENOENT") return skip(`no runner was registered in ${runnerDir}`);
    return judge(nameFolderFault(text, runnerDir, FOLDER_SETTING), "");
  }
  const stored = StoredCredential.safeParse(parseJson(text));
  if (!stored.success) return judge(nameDamagedCredential(path), "");
  const { edgeUrl, credential, runnerId } = stored.data;
  const client = createClient({ baseUrl: edgeUrl, key: credential, fetch });
  const answer = await client
    .send(endpoints.downloadArtifact, { params: { digest: NO_ARTIFACT } })
    .then(() => null, failureCodeOf);
  if (answer === "unauthorized") return judge(nameUnknownCredential(edgeUrl, runnerId), "");
  if (answer === null || answer === "not-found") return ok(`${runnerId} is known at ${edgeUrl}`);
  return warn(`${runnerId} could not be tried at ${edgeUrl}: ${answer}`, "Look whether that edge can be reached.");
}

function failureCodeOf(error: unknown): string {
  return error instanceof ProblemError ? error.problem.code : error instanceof Error ? error.message : String(error);
}

/** Words of a run that ended so long ago say little of the next. */
const OLD_MS = 86_400_000;

/** Faults that the runner of the folder has told: those that last, or that its last run ended with. */
export async function checkTold({ runnerDir }: Patient): Promise<Verdict> {
  const [pid, told] = await Promise.all([findRunnerOf(runnerDir), readToldFaults(runnerDir)]);
  const faults = Object.values(told).filter(({ at }) => pid !== null || Date.now() - Date.parse(at) < OLD_MS);
  const who = pid === null ? "its last run" : `process ${pid}`;
  if (faults.length === 0) {
    return pid === null ? skip(`no runner runs in ${runnerDir}`) : ok(`${who} runs, and has no fault to tell`);
  }
  const found = `${who} said: ${faults.map((fault) => `${fault.found} (${fault.at})`).join("; ")}`;
  const advice = faults.map((fault) => fault.advice).join(" ");
  // What ended a run may be mended since.
  return pid !== null && faults.some(({ isMild }) => !isMild) ? fail(found, advice) : warn(found, advice);
}
