import { readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { Registration } from "../protocol/fleet/runner.ts";
import { parseJson } from "../protocol/wire/parse-json.ts";

/** File of a runner's folder with its identity. */
export const CREDENTIAL_FILE = "credential.json";
/** Identity of a runner at its edge. */
export const StoredCredential = Registration.extend({ edgeUrl: z.url() });
export type StoredCredential = z.infer<typeof StoredCredential>;

/** File of a runner's folder with the faults that it has told last, by subject. */
export const TROUBLES_FILE = "troubles.json";
/** Socket of a runner's folder on which the runner that has it answers with its process id. */
export const SOCKET_FILE = "runner.sock";

const ToldFault = z.object({
  cause: z.string(),
  found: z.string(),
  advice: z.string(),
  isMild: z.literal(true).optional(),
  at: z.iso.datetime(),
});
export type ToldFault = z.infer<typeof ToldFault>;
const Told = z.object({ pid: z.number(), faults: z.record(z.string(), ToldFault) });

/** What the runner of a folder has told last, by subject: of its present life, or of its last. */
export async function readToldFaults(dataDir: string): Promise<Readonly<Record<string, ToldFault>>> {
  const told = Told.safeParse(parseJson(await readFile(join(dataDir, TROUBLES_FILE), "utf8").catch(() => "")));
  return told.success ? told.data.faults : {};
}

const ANSWER_MS = 2_000;

/** Errors of a socket that somebody may listen on: another user, or one who is too busy. */
const HELD = new Set(["EACCES", "EAGAIN"]);

/**
 * Process id of the runner that has a folder now, or words where it does not answer; null for none. It is sent
 * `message`.
 */
export function findRunnerOf(dataDir: string, message = ""): Promise<number | "of unknown id" | null> {
  return new Promise((resolve) => {
    let text = "";
    let isHeld = false;
    const socket = createConnection(join(dataDir, SOCKET_FILE), () => (isHeld = true));
    const end = (error?: NodeJS.ErrnoException | boolean) => {
      socket.destroy();
      if (typeof error === "object" && HELD.has(error.code ?? "")) isHeld = true;
      resolve(/^\d+$/m.test(text) ? Number.parseInt(text, 10) : isHeld ? "of unknown id" : null);
    };
    socket.setEncoding("utf8").setTimeout(ANSWER_MS, end);
    socket.once("error", end).once("close", end);
    socket.on("data", (chunk: string) => (text += chunk));
    socket.end(message);
  });
}
