import { endpoints } from "../protocol/endpoints.ts";
import { parseJson } from "../protocol/parse-json.ts";
import { parseProblem } from "../protocol/problem.ts";
import { Registration, type RegistrationInput } from "../protocol/runner.ts";
import type { StoredCredential } from "./credential-file.ts";

/** Trades a one-time token for an id and a credential; throws the edge's problem where it refuses. */
export async function registerRunner(edgeUrl: string, input: RegistrationInput): Promise<StoredCredential> {
  const { method, path } = endpoints.registerRunner;
  const response = await fetch(new URL(path, edgeUrl), {
    method: method.toUpperCase(),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  }).catch((cause: unknown) => {
    throw new Error(`The edge at ${edgeUrl} cannot be reached.`, { cause });
  });
  const text = await response.text();
  const registration = Registration.safeParse(parseJson(text));
  if (!response.ok || !registration.success) {
    throw parseProblem(text) ?? new Error(`What answers at ${edgeUrl} is no edge: ${response.status}.`);
  }
  const { runnerId, credential, linkUrl } = registration.data;
  return { edgeUrl, linkUrl, runnerId, credential };
}
