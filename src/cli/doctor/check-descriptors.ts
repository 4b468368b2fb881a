import { readFile } from "node:fs/promises";
import { fail, ok, skip, type Verdict, warn } from "./finding.ts";

/** The edge holds a socket for each caller and a few files for each object. */
const NEEDED = 256;
const WANTED = 4_096;
const ADVICE = "Raise it: `ulimit -n 65536`, LimitNOFILE= of a systemd unit, or --ulimit nofile= of a container.";

/** How many files and sockets a process may have open. Linux only. */
export async function checkDescriptors(): Promise<Verdict> {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => null);
  return limits === null ? skip("known on Linux alone") : judgeDescriptors(limits);
}

/** Of the text of `/proc/self/limits`. */
export function judgeDescriptors(limits: string): Verdict {
  const [, text = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  if (text === "" || Number.isNaN(limit)) return skip("the system tells no limit");
  if (limit < NEEDED) return fail(`${text} open files`, ADVICE);
  return limit < WANTED ? warn(`${text} open files`, ADVICE) : ok(`${text} open files`);
}
