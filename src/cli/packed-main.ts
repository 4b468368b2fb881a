/** `millrace-runner`: the command line of a packed runner (src/local/pack), which has no edge of its own to start. */
import { startProgram } from "./start-program.ts";

await startProgram(async () => {
  const [{ runCommands }, { startCommand }] = await Promise.all([
    import("./commands.ts"),
    import("./runner/runner-command.ts"),
  ]);
  const description = "A runner in one folder: start it, check its GPU, and use the edge that it works for";
  return (args, shell) =>
    runCommands({ name: "millrace-runner", description, own: () => [startCommand()] }, args, shell);
});
