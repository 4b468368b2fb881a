import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorOf } from "../../checkup/fault.ts";
import { nameDamagedCredential, nameFolderFault } from "../../checkup/judge-host.ts";
import { CREDENTIAL_FILE, StoredCredential } from "../../checkup/runner-folder.ts";
import { FOLDER_SETTING } from "../../checkup/runner-settings.ts";
import { createClient } from "../../client/client.ts";
import { Registration, type RegistrationInput } from "../../protocol/fleet/runner.ts";
import { runnerEndpoints } from "../../protocol/fleet/runner-endpoints.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { parseProblem, ProblemError } from "../../protocol/wire/problem.ts";
import { writeWhole } from "../host/files.ts";

const REGISTER_MS = 30_000;

function pathOf(dataDir: string): string {
  return join(dataDir, CREDENTIAL_FILE);
}

/** Stored credential, or null where this runner never registered. Throws the fault of a file that cannot be read. */
export async function readCredential(dataDir: string): Promise<StoredCredential | null> {
  const path = pathOf(dataDir);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw errorOf(nameFolderFault(error, dataDir, FOLDER_SETTING));
  });
  if (text === null) return null;
  const stored = StoredCredential.safeParse(parseJson(text));
  if (!stored.success) throw errorOf(nameDamagedCredential(path));
  return stored.data;
}

/** Writes the credential, readable by its owner only, completely or not at all. */
export async function writeCredential(dataDir: string, credential: StoredCredential): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeWhole(pathOf(dataDir), `${JSON.stringify(credential, null, 2)}\n`, { mode: 0o600 });
}

/** Exchanges a one-time token for an id and a credential; throws the edge's problem where it refuses. */
export async function registerRunner(edgeUrl: string, input: RegistrationInput): Promise<StoredCredential> {
  const strange = ({ status }: Response) => new Error(`The server at ${edgeUrl} is not an edge: ${status}.`);
  const edge = createClient({
    baseUrl: new URL(edgeUrl).origin,
    explain: async (response) => parseProblem(await response.text()) ?? strange(response),
  });
  const signal = AbortSignal.timeout(REGISTER_MS);
  const response = await edge.send(runnerEndpoints.registerRunner, { body: input, signal }).catch((error: unknown) => {
    if (isOlder(error)) {
      throw new ProblemError("upgrade-required", "The edge knows no ephemeral runners: install a newer release of it.");
    }
    throw error instanceof TypeError ? new Error(`The edge at ${edgeUrl} cannot be reached.`, { cause: error }) : error;
  });
  const registration = Registration.safeParse(parseJson(await response.text()));
  if (!registration.success) throw strange(response);
  const { runnerId, credential, linkUrl } = registration.data;
  return { edgeUrl, linkUrl, runnerId, credential };
}

/** Whether an edge refused the field that its release does not know. */
function isOlder(error: unknown): boolean {
  const errors = error instanceof ProblemError ? (error.problem.errors ?? []) : [];
  return errors.some(({ pointer }) => pointer === "#/ephemeral");
}
