/** `millrace-runner`: the command line of a packed runner (src/local/pack), which has no edge of its own to start. */
import { startProgram } from "./start-program.ts";

// Drivers' and the system's own programs (nvidia-smi, lscpu, grep) tell what the machine is; where PATH is not set,
// execvp(3) looks for them here, but not where it is empty.
process.env.PATH ||= "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

await startProgram(async () => {
  const [{ runCommands }, { startCommand }] = await Promise.all([
    import("./commands.ts"),
    import("./runner/runner-command.ts"),
  ]);
  const description = "A runner in one folder: start it, check its GPU, and use the edge that it works for";
  return (args, shell) =>
    runCommands({ name: "millrace-runner", description, own: () => [startCommand()] }, args, shell);
});
