#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { PROCESS } from "./shell/shell.ts";

// Most of a start is compiling our own code: it is kept compiled in the system's temporary folder.
enableCompileCache();
const { useProxies } = await import("../checkup/proxy.ts");
const { sentenceOf } = await import("../checkup/fault.ts");
const { runProgram } = await import("./program.ts");

// The reader closed the pipe early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

const fault = useProxies(process.env);
if (fault !== null) PROCESS.warn(`millrace: ${sentenceOf(fault)}\n`);
await runProgram(process.argv.slice(2), PROCESS);
