#!/usr/bin/env node
import { runProgram } from "./program.ts";
import { PROCESS } from "./shell/shell.ts";

// The reader closed the pipe early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

await runProgram(process.argv.slice(2), PROCESS);
