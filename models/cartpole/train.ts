import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { writeOnnxMlp } from "../onnx-mlp-writer.ts";
import { episodeSeeds } from "./episode-seeds.ts";
import { evaluatePolicy } from "./evaluate.ts";
import { mlpLayers } from "./mlp-policy.ts";
import { onnxPolicy } from "./onnx-policy.ts";
import { describePolicy } from "./policy-card.ts";
import { randomPolicy } from "./random-policy.ts";
import { trainPolicy } from "./train-policy.ts";
import type { Generation } from "./train-policy.ts";

// node models/cartpole/train.ts [--seed 1]: trains the policy and writes cartpole.onnx and card.json beside this file.

const REPORT_EPISODES = 1000;
const BASELINE_EPISODES = 10_000;

const { values } = parseArgs({ options: { seed: { type: "string", default: "1" } } });
const seed = Number(values.seed);
if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) throw new RangeError("--seed wants a u32");

const settings = { seed, population: 64, sigma: 0.1, learningRate: 0.05 };
console.log("generation  members' mean  best member  centre, fresh episodes");
const trained = await trainPolicy(settings, printGeneration);

const layers = mlpLayers(trained.parameters);
const model = writeOnnxMlp({ name: "cartpole", input: "observation", output: "logits", layers });
writeFileSync(new URL("cartpole.onnx", import.meta.url), model);

// Reported of the file itself, on seeds that had no part in choosing it (winner's curse).
const report = await evaluatePolicy(await onnxPolicy(model), episodeSeeds("report", REPORT_EPISODES));
const baseline = await evaluatePolicy(randomPolicy(seed), episodeSeeds("baseline", BASELINE_EPISODES));
const card = describePolicy({ model, settings, trained, report, baseline });
writeFileSync(new URL("card.json", import.meta.url), `${JSON.stringify(card, null, 2)}\n`);

const { value, interval, n, conditions } = card.evaluation;
console.log(`mean return ${value} [${interval.low}, ${interval.high}] over ${n} fresh episodes; ${conditions}`);

function printGeneration({ generation, members, best, centre }: Generation): void {
  const columns = [members.toFixed(1).padStart(14), best.toFixed(1).padStart(12), centre.toFixed(1).padStart(23)];
  console.log(`${String(generation).padStart(10)} ${columns.join(" ")}`);
}
