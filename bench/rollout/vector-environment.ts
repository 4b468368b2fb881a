import type { Contender } from "../contest.ts";
import { installPython, startPython } from "../python-program.ts";
import { COMPARED, HIDDEN, type RolloutCase } from "./rollout-case.ts";

const ENVIRONMENT = {
  folder: new URL(".venv", import.meta.url),
  requirements: new URL("requirements.txt", import.meta.url),
  ready: "bin/f2py",
};
const SCRIPT = new URL("play_vector.py", import.meta.url);

/** Installs the peers into the bench's own environment, once. Throws an Error with the reason where that fails. */
export function installVectorEnvironments(say: (text: string) => void): Promise<void> {
  return installPython(ENVIRONMENT, () => say("installing gymnasium, envpool and minatar (once)"));
}

/** A library's vector environment, one environment for each member, with inference by numpy, in a process of its own. */
export function inPython(library: "gymnasium" | "envpool"): Contender<RolloutCase> {
  return async ({ environment, members, weightsFile }) => {
    const { ask, close } = startPython(ENVIRONMENT, SCRIPT);
    const question = { library, environment, members, compared: COMPARED, hidden: HIDDEN, weightsFile };
    const { output } = (await ask(question)) as { output: number[] };
    return {
      opened: { output: Float32Array.from(output), adapter: null },
      measure: async () => (await ask({})) as { steps: number },
      close,
    };
  };
}
