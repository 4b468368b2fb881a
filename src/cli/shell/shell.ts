/**
 * Whether output has colours: `NO_COLOR` forbids them, `FORCE_COLOR` other than 0 or false forces them, else a terminal
 * has them.
 */
export function hasColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTerminal && TERM !== "dumb";
}

/** A command's access to the outside. */
export interface Shell {
  readonly fetch: typeof fetch;
  readonly print: (text: string) => void;
  readonly warn: (text: string) => void;
  /** The width of the terminal; undefined where the output is none. */
  readonly columns: number | undefined;
  /** The same of what `warn` writes to, where progress is shown. */
  readonly warnColumns: number | undefined;
  /** Whether printed text may have colours. */
  readonly colour: boolean;
  /** Variables such as `MILLRACE_EDGE`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that it was started in. */
  readonly folder: string;
  /** Standard input, to its end. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Whether a user would have to type the input. */
  readonly inputIsTerminal: boolean;
  /** Takes Ctrl-C for itself until what it gives is called. */
  readonly onInterrupt: (handle: () => void) => () => void;
  /** The code that the process will end with. */
  readonly exit: (code: number) => void;
}

/** Form of printed text: with colours or not, as wide as the terminal. */
export type Canvas = Pick<Shell, "colour" | "columns">;

/** Width if the terminal does not report one. */
const COLUMNS = 80;

export const PROCESS: Shell = {
  fetch: (...request) => globalThis.fetch(...request),
  print: (text) => void process.stdout.write(text),
  warn: (text) => void process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns || COLUMNS : undefined,
  warnColumns: process.stderr.isTTY ? process.stderr.columns || COLUMNS : undefined,
  colour: hasColour(process.env, process.stdout.isTTY),
  env: process.env,
  folder: process.cwd(),
  input: () => process.stdin,
  inputIsTerminal: process.stdin.isTTY,
  onInterrupt: (handle) => {
    process.on("SIGINT", handle);
    return () => void process.off("SIGINT", handle);
  },
  exit: (code) => {
    process.exitCode = code;
  },
};
