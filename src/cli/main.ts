#!/usr/bin/env node
import { Command } from "commander";
import { VERSION } from "../protocol/version.ts";
import { runnerCommand } from "./runner-command.ts";

new Command("millrace")
  .description("Benchmarks, inference within a latency budget, and history, on your own runners")
  .version(VERSION)
  .addCommand(runnerCommand())
  .parse();
