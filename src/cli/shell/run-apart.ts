import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface ApartOptions {
  readonly cwd?: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Written to its standard input, which is closed behind it. */
  readonly input?: string;
  /** It is killed after this long; absent: never. */
  readonly timeoutMs?: number;
  /** Called with the output of either stream as it comes. */
  readonly onOutput?: (text: string) => void;
}

export interface ApartEnd {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isTimedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in a process of its own to its end, whatever that is. Rejects only where it cannot be started. */
export async function runApart(
  program: string,
  args: readonly string[],
  { cwd, environment = process.env, input = "", timeoutMs, onOutput }: ApartOptions = {},
): Promise<ApartEnd> {
  const child = spawn(program, args, { cwd, env: environment, stdio: "pipe" });
  const [readStdout, readStderr] = [gather(child.stdout, onOutput), gather(child.stderr, onOutput)];
  let isTimedOut = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isTimedOut = true;
          child.kill("SIGKILL");
        }, timeoutMs);
  // One that ends without reading breaks the pipe.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return { code, signal, isTimedOut, stdout: readStdout(), stderr: readStderr() };
  } finally {
    clearTimeout(timer);
  }
}

/** Why a program ended, by what it wrote: its last line that names an error (Node writes its release below it). */
export function reasonOf(stderr: string): string | undefined {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return (lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1))?.slice(0, 300);
}

function gather(stream: NonNullable<ChildProcess["stdout"]>, onOutput?: (text: string) => void): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    onOutput?.(chunk);
  });
  return () => text;
}
