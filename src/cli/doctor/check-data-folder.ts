import { mkdtemp, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail, ok, type Verdict, warn } from "./finding.ts";

const MiB = 2 ** 20;
/** An edge's state, the software GPU and a few models. */
const NEEDED_BYTES = 256 * MiB;
/** What a runner keeps of artifacts is up to 8 GiB. */
const WANTED_BYTES = 2_048 * MiB;
const PAGE_BYTES = 4_096;

/** Whether a folder of millrace, there already or not, can be written and has room. */
export async function checkDataFolder(folder: string): Promise<Verdict> {
  const place = await findPlace(folder);
  const draft = await mkdtemp(join(place, ".millrace-doctor-")).catch((error: Error) => error);
  if (draft instanceof Error) {
    return fail(`${folder} cannot be written: ${draft.message}`, "Give it to this user, or name another folder.");
  }
  try {
    await writeFile(join(draft, "page"), new Uint8Array(PAGE_BYTES));
  } catch (error) {
    return fail(`${folder} takes no file: ${(error as Error).message}`, "Make room, or name another folder.");
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const { bavail, bsize } = await statfs(place);
  return judgeRoom(folder, bavail * bsize);
}

export function judgeRoom(folder: string, freeBytes: number): Verdict {
  const found = `${folder}: ${Math.floor(freeBytes / MiB).toLocaleString("en")} MiB free`;
  if (freeBytes < NEEDED_BYTES) return fail(found, `Make room: at least ${NEEDED_BYTES / MiB} MiB are needed.`);
  if (freeBytes < WANTED_BYTES)
    return warn(found, "Make room, or lower MILLRACE_DISK_SPACE: artifacts take up to 8 GiB.");
  return ok(found);
}

/** The folder, or the nearest one above it that is there. What is there and no folder fails when it is written. */
async function findPlace(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
  return isThere || dirname(folder) === folder ? folder : findPlace(dirname(folder));
}
