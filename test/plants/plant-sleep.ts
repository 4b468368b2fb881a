import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface PlantedSleep {
  /** What a runner, or one device's process, is started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on every run of a model takes so much longer; 0 heals it. */
  sleepMs(milliseconds: number): Promise<void>;
}

/** A backend that can be told to sleep, by a file in this folder. */
export function plantSleep(folder: string): PlantedSleep {
  const file = join(folder, "sleep-ms");
  const program = new URL("sleeping-backend.ts", import.meta.url);
  return {
    environment: { NODE_OPTIONS: `--import ${program.href}`, SLEEPING_BACKEND_FILE: file },
    sleepMs: (milliseconds) => writeFile(file, String(milliseconds)),
  };
}
