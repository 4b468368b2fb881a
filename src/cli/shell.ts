/** What a command does to the outside. */
export interface Shell {
  readonly fetch: typeof fetch;
  readonly print: (text: string) => void;
  readonly warn: (text: string) => void;
  /** The width of the terminal; undefined where the output is none. */
  readonly columns: number | undefined;
  /** The code that the process will end with. */
  readonly exit: (code: number) => void;
}

export const PROCESS: Shell = {
  fetch: (...request) => globalThis.fetch(...request),
  print: (text) => void process.stdout.write(text),
  warn: (text) => void process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  exit: (code) => {
    process.exitCode = code;
  },
};
