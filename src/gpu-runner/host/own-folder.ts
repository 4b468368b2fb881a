import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { errorOf } from "../../checkup/fault.ts";
import { nameFolderFault } from "../../checkup/judge-host.ts";
import { findRunnerOf, SOCKET_FILE } from "../../checkup/runner-folder.ts";
import { FOLDER_SETTING } from "../../checkup/runner-settings.ts";
import { writeWhole } from "./files.ts";
import type { Troubles } from "./troubles.ts";

const PAGE_BYTES = 4_096;
/** A second runner that was refused is gone after this time, unless it tried again. */
const LAPSE_MS = 600_000;

/**
 * Takes a folder for this process until it ends. Throws the fault of a folder that cannot be written, or that another
 * runner has.
 */
export async function takeFolder(dataDir: string, troubles: Troubles): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    const page = join(dataDir, "page");
    await writeWhole(page, new Uint8Array(PAGE_BYTES));
    await rm(page);
  } catch (error) {
    throw errorOf(nameFolderFault(error, dataDir, FOLDER_SETTING));
  }
  await answerOthers(dataDir, troubles);
  await troubles.keepIn(dataDir);
}

/**
 * A socket ends with its process, however that ends, and is seen from other containers, too. The file of one that nobody
 * listens on is removed.
 */
async function answerOthers(dataDir: string, troubles: Troubles): Promise<void> {
  const path = join(dataDir, SOCKET_FILE);
  let lapse: NodeJS.Timeout | undefined;
  const server = createServer((socket) => {
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.on("data", (wish: string) => {
      troubles.tell(nameWish(dataDir, wish));
      clearTimeout(lapse);
      lapse = setTimeout(() => troubles.ended("folder-wanted"), LAPSE_MS).unref();
    });
    socket.end(`${process.pid}\n`);
  });
  server.on("error", () => undefined);
  // A file system without sockets, or a path that is too long for one: the folder is used without the check.
  const listen = () => once(server.unref().listen(path), "listening").then(() => null, codeOf);
  if ((await listen()) !== "EADDRINUSE") return;
  const holder = await findRunnerOf(dataDir, String(process.pid));
  if (holder !== null) {
    throw errorOf({
      cause: "folder-in-use",
      found: `${dataDir} is in use by a runner, process ${holder}`,
      advice: `Stop that one, or give this one a folder of its own by ${FOLDER_SETTING}.`,
    });
  }
  await rm(path, { force: true });
  await listen();
}

const codeOf = ({ code }: NodeJS.ErrnoException) => code;

function nameWish(dataDir: string, pid: string) {
  return {
    cause: "folder-wanted",
    found: `A second runner, process ${pid}, was started in ${dataDir}, which this one has, and was refused`,
    advice: `Give it a folder of its own by ${FOLDER_SETTING}.`,
    isMild: true,
  } as const;
}
