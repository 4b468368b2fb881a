import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../.venv", import.meta.url));
const PYTHON = `${FOLDER}/bin/python`;
/** Exists once everything is installed. */
const READY = `${FOLDER}/bin/otava`;
const REQUIREMENTS = fileURLToPath(new URL("requirements.txt", import.meta.url));
const SCRIPT = fileURLToPath(new URL("play_otava.py", import.meta.url));
const MOST_PROCESSES = 2;

/** Indices that Otava finds, by the length of the series so far, from 2 on. */
export type Answers = readonly (readonly number[])[];

/** Installs Otava into the bench's own environment, once. Throws an Error with the reason where that fails. */
export async function installOtava(say: (text: string) => void): Promise<void> {
  if (await isThere(READY)) return;
  say("installing apache-otava (once)");
  await rm(FOLDER, { recursive: true, force: true });
  await runProgram("python3", ["-m", "venv", FOLDER]);
  await runProgram(PYTHON, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]);
}

/** Shows each growing series to Otava; several processes share the series. */
export async function playOtava(series: readonly Float64Array[]): Promise<readonly Answers[]> {
  const processes = Math.min(MOST_PROCESSES, availableParallelism());
  const shares = Array.from({ length: processes }, (_, process) =>
    playShare(series.filter((_values, at) => at % processes === process)),
  );
  const answers = await Promise.all(shares);
  return series.map((_, at) => answers[at % processes]?.[Math.floor(at / processes)] ?? []);
}

async function playShare(series: readonly Float64Array[]): Promise<readonly Answers[]> {
  const child = spawn(PYTHON, [SCRIPT], { stdio: ["pipe", "pipe", "inherit"] });
  // A program that ended early shows it by its code.
  child.stdin.on("error", () => {});
  child.stdin.end(series.map((values) => `${JSON.stringify([...values])}\n`).join(""));
  const [answers] = await Promise.all([readAnswers(child.stdout), awaitEnd(child, "otava")]);
  return answers;
}

async function readAnswers(output: NodeJS.ReadableStream): Promise<readonly Answers[]> {
  const answers: Answers[] = [];
  for await (const line of createInterface({ input: output })) answers.push(JSON.parse(line) as Answers);
  return answers;
}

async function runProgram(command: string, args: readonly string[]): Promise<void> {
  await awaitEnd(spawn(command, args, { stdio: "ignore" }), [command, ...args.slice(0, 3)].join(" "));
}

/** Throws where the program is missing or fails. */
async function awaitEnd(child: ChildProcess, name: string): Promise<void> {
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${name} ended with code ${code}`);
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
