import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Contender, Opened } from "./contest.ts";

const ENTRY = fileURLToPath(new URL("contender-process.ts", import.meta.url));
const OPEN_LIMIT_MS = 300_000;
const ROUND_LIMIT_MS = 120_000;
const ERROR_TAIL = 2_000;

/** Messages to the process: prepare, then rounds; one at a time. */
export type Question = { readonly type: "open"; readonly input: unknown } | { readonly type: "measure" };
export type Answer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/**
 * The contender that a module exports as `contender`, in its own process: a driver or runtime may end its process,
 * which is reported as an error here. `environment` is added to this process's.
 */
export function inProcess<Case>(module: URL, environment: Readonly<Record<string, string>>): Contender<Case> {
  return async (input) => {
    const child = fork(ENTRY, [module.href], {
      serialization: "advanced",
      execArgv: [],
      env: { ...process.env, ...environment },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const close = async () => {
      child.kill("SIGKILL");
      await closed;
    };
    const ask = createAsk(child);
    try {
      const opened = (await ask({ type: "open", input }, OPEN_LIMIT_MS)) as Opened;
      const measure = () => ask({ type: "measure" }, ROUND_LIMIT_MS) as Promise<Record<string, number>>;
      return { opened, measure, close };
    } catch (error) {
      await close();
      throw error;
    }
  };
}

function createAsk(child: ChildProcess): (question: Question, limitMs: number) => Promise<unknown> {
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-ERROR_TAIL)));
  const ended = new Promise<never>((_, reject) => {
    child.once("close", (code, signal) => {
      const last = errors.trim().split("\n").at(-1);
      reject(new Error(`its process ended (${signal ?? `code ${code}`})${last ? `: ${last}` : ""}`));
    });
  });
  ended.catch(() => {}); // It may end while nothing is asked; the next question hears of it.
  return async (question, limitMs) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answered = (answer: Answer) => (answer.ok ? resolve(answer.value) : reject(new Error(answer.reason)));
    const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs);
    child.once("message", answered);
    try {
      child.send(question, () => {}); // Where it cannot be sent, the process has ended.
      return await Promise.race([promise, ended]);
    } finally {
      clearTimeout(timer);
      child.off("message", answered);
    }
  };
}
