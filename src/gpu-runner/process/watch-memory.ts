import { readFile } from "node:fs/promises";
import { parseStatusBytes } from "../watch/parse-proc.ts";

const INTERVAL_MS = 100;

/**
 * Looks at what a process has in memory until it is stopped, or tells once that it is more than `limitBytes`. Between
 * two looks a process may take some hundred MiB more. Where the system tells nothing, or there is no limit, it sees nothing.
 */
export function watchMemory(
  pid: number | null,
  limitBytes: number | undefined,
  onExceed: (bytes: number) => void,
): () => void {
  if (pid === null || limitBytes === undefined) return () => {};
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    const bytes = parseStatusBytes(await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""), "VmRSS") ?? 0;
    isLooking = false;
    if (bytes <= limitBytes || stopped) return;
    stop();
    onExceed(bytes);
  };
  let stopped = false;
  const timer = setInterval(() => void look(), INTERVAL_MS);
  timer.unref();
  const stop = () => {
    stopped = true;
    clearInterval(timer);
  };
  return stop;
}
