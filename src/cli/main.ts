#!/usr/bin/env node
import { startProgram } from "./start-program.ts";

await startProgram(async () => (await import("./program.ts")).runProgram);
