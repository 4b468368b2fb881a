#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { VERSION } from "../protocol/version.ts";
import { exportCommand } from "./export-command.ts";
import { importCommand } from "./import-command.ts";
import { checkCommand } from "./check-command.ts";
import { compareCommand } from "./compare-command.ts";
import { doctorCommand } from "./doctor-command.ts";
import { loadCommand } from "./load-command.ts";
import { runnerCommand } from "./runner-command.ts";
import { upCommand } from "./up-command.ts";
import { zooCommand } from "./zoo-command.ts";

new Command("millrace")
  .description("Benchmarks, inference within a latency budget, and history, on your own runners")
  .version(VERSION)
  .addCommand(upCommand())
  .addCommand(doctorCommand())
  .addCommand(runnerCommand())
  .addCommand(loadCommand())
  .addCommand(exportCommand())
  .addCommand(importCommand())
  .addCommand(compareCommand())
  .addCommand(checkCommand())
  .addCommand(zooCommand())
  .parseAsync()
  .catch((error: unknown) => {
    // The command has said what was wrong with its options, and chosen the code.
    if (error instanceof CommanderError) return;
    process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
