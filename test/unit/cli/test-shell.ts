import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Shell } from "../../../src/cli/shell/shell.ts";

/** Result of a command. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A shell that is no terminal, has no variables and no contexts, and records its output. */
export function createTestShell(
  change: Partial<Shell> & { readonly text?: string } = {},
): Shell & { ended(): Ended; interrupt(): void } {
  let [code, out, err] = [0, "", ""];
  const handlers = new Set<() => void>();
  const nowhere = join(tmpdir(), "millrace-no-such-folder");
  return {
    fetch: (...request) => globalThis.fetch(...request),
    print: (text) => void (out += text),
    warn: (text) => void (err += text),
    columns: undefined,
    warnColumns: undefined,
    colour: false,
    env: { XDG_CONFIG_HOME: nowhere },
    folder: nowhere,
    input: async function* () {
      yield new TextEncoder().encode(change.text ?? "");
    },
    inputIsTerminal: change.text === undefined,
    onInterrupt: (handle) => {
      handlers.add(handle);
      return () => void handlers.delete(handle);
    },
    exit: (each) => void (code = each),
    ...change,
    ended: () => ({ code, out, err }),
    interrupt: () => {
      for (const handle of handlers) handle();
    },
  };
}
