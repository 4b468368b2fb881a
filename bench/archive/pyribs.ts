import type { Contender } from "../contest.ts";
import { installPython, startPython } from "../python-program.ts";
import { type ArchiveCase, toOutput } from "./archive-case.ts";

const ENVIRONMENT = {
  folder: new URL(".venv", import.meta.url),
  requirements: new URL("requirements.txt", import.meta.url),
  ready: "bin/f2py",
};
const SCRIPT = new URL("play_pyribs.py", import.meta.url);

/** Installs pyribs into the bench's own environment, once. Throws an Error with the reason where that fails. */
export function installPyribs(say: (text: string) => void): Promise<void> {
  return installPython(ENVIRONMENT, () => say("installing ribs (once)"));
}

/** GridArchive of pyribs, in its own process. */
export const pyribs: Contender<ArchiveCase> = async (input) => {
  const { ask, close } = startPython(ENVIRONMENT, SCRIPT);
  try {
    const elites = (await ask(input)) as { cells: number[]; fitness: number[]; members: number[] };
    return {
      opened: { output: toOutput(input, elites), adapter: null },
      async measure() {
        const { seconds } = (await ask({})) as { seconds: number };
        return { inserts: (input.batch * input.batches) / seconds };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
