import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ERROR_TAIL = 2_000;

/** A bench's own Python environment. */
export interface PythonEnvironment {
  /** Its folder. */
  readonly folder: URL;
  readonly requirements: URL;
  /** A file of it that exists once everything is installed, such as `bin/f2py`. */
  readonly ready: string;
  /** Absent: `python3` of the path. */
  readonly python?: string;
}

/** Creates it and installs its requirements, once. Throws an Error with the reason where that fails. */
export async function installPython(
  { folder, requirements, ready, python = "python3" }: PythonEnvironment,
  say: () => void,
): Promise<void> {
  const at = fileURLToPath(folder);
  if (await isThere(`${at}/${ready}`)) return;
  say();
  await rm(at, { recursive: true, force: true });
  await run(python, ["-m", "venv", at]);
  const file = fileURLToPath(requirements);
  await run(`${at}/bin/python`, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", file]);
}

/** A program that answers lines of JSON by lines of JSON. */
export interface PythonProgram {
  /** Rejects with the last output of a program that ends. */
  readonly ask: (question: unknown) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export function startPython({ folder }: Pick<PythonEnvironment, "folder">, script: URL): PythonProgram {
  const child = spawn(`${fileURLToPath(folder)}/bin/python`, [fileURLToPath(script)], { stdio: "pipe" });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-ERROR_TAIL)));
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(errors.trim().split("\n").at(-1) ?? "it ended");
      return JSON.parse(value) as unknown;
    },
    async close() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    },
  };
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const [code] = (await once(spawn(command, args, { stdio: "ignore" }), "close")) as [number | null];
  if (code !== 0) throw new Error(`${[command, ...args.slice(0, 3)].join(" ")} ended with code ${code}`);
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
