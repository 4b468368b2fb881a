#!/usr/bin/env node
import { Command } from "commander";
import { VERSION } from "../protocol/version.ts";
import { exportCommand } from "./export-command.ts";
import { importCommand } from "./import-command.ts";
import { loadCommand } from "./load-command.ts";
import { runnerCommand } from "./runner-command.ts";

new Command("millrace")
  .description("Benchmarks, inference within a latency budget, and history, on your own runners")
  .version(VERSION)
  .addCommand(runnerCommand())
  .addCommand(loadCommand())
  .addCommand(exportCommand())
  .addCommand(importCommand())
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
