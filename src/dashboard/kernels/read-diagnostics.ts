/** A compiler's message about one place in a file. Lines and columns count from 1. */
export interface Diagnostic {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The diagnostics of a file within a text whose lines are `file:line:column: message`. */
export function readDiagnostics(text: string, file: string): Diagnostic[] {
  return text.split("\n").flatMap((told) => {
    const [, path = "", line, column, message = ""] = /(\S+):(\d+):(\d+): (.*)$/.exec(told) ?? [];
    const isOfFile = path === file || path.endsWith(`/${file}`);
    return isOfFile ? [{ line: Number(line), column: Number(column), message }] : [];
  });
}
