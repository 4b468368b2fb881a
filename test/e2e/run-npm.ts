import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command at the root of the project to its end, as a person would. */
export async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Finished> {
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** `npm start --` with these options. */
export function npmStart(...options: string[]): Promise<Finished> {
  return run("npm", startArguments(...options));
}

/** What npm is started with for the same, where it needs other variables. */
export function startArguments(...options: string[]): string[] {
  return ["start", "--silent", "--", ...options];
}
