import { enableCompileCache } from "node:module";
import { PROCESS, type Shell } from "./shell/shell.ts";

/** Loads a command line and runs it with this process' arguments. */
export async function startProgram(
  load: () => Promise<(args: readonly string[], shell: Shell) => Promise<void>>,
): Promise<void> {
  // Most of a start is compiling our own code: it is kept compiled in the system's temporary folder.
  enableCompileCache();
  const [{ useProxies }, { sentenceOf }, run] = await Promise.all([
    import("../checkup/proxy.ts"),
    import("../checkup/fault.ts"),
    load(),
  ]);
  // The reader closed the pipe early, as `head` does.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  const fault = useProxies(process.env);
  if (fault !== null) PROCESS.warn(`millrace: ${sentenceOf(fault)}\n`);
  await run(process.argv.slice(2), PROCESS);
}
