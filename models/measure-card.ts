/** `node models/measure-card.ts <name>…`: completes card.json with measurements of the files, and writes card.md. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { readModel } from "../src/onnx/read-model.ts";
import { readHeldOut } from "../src/protocol/models/held-out-file.ts";
import { answerHeldOut } from "./answer-held-out.ts";
import { measureEvaluation } from "./measure-evaluation.ts";
import { RecipeCard, ZooCard } from "./model-card.ts";
import { countOnnxParameters } from "./onnx-parameter-count.ts";
import { writeCard } from "./write-card.ts";
import { zooFolder } from "./zoo.ts";

const HELD_OUT = "held-out.safetensors";
/** LeNet-5's holds more than a card can. */
const BY_HAND: ReadonlySet<string> = new Set(["lenet5"]);

async function measureCard(name: string): Promise<ZooCard> {
  const folder = zooFolder(name);
  const known = RecipeCard.parse(JSON.parse(readFileSync(new URL("card.json", folder), "utf8")));
  const [network, samples] = [`${name}.onnx`, HELD_OUT].map((file) => readFileSync(new URL(file, folder)));
  const heldOut = readHeldOut(samples!);
  if (heldOut.metric !== known.metric)
    throw new Error(`${name}: the card says ${known.metric}, the held-out part ${heldOut.metric}`);
  const whole = known.evaluation !== undefined && known.evaluation.n > heldOut.rows ? known.evaluation : undefined;
  const { task, metric, architecture, inputs, outputs, data, training, intendedUse, limits } = known;
  const card = {
    name,
    category: known.category,
    metric,
    task,
    architecture,
    parameters: countOnnxParameters(network!),
    file: { name: `${name}.onnx`, ...describeBytes(network!), opset: readModel(network!).opset },
    heldOut: { file: HELD_OUT, ...describeBytes(samples!), rows: heldOut.rows },
    inputs,
    outputs,
    data,
    training,
    evaluation: measureEvaluation(metric, await answerHeldOut(network!, heldOut), heldOut),
    wholeEvaluation: whole ?? known.wholeEvaluation,
    intendedUse,
    limits,
  };
  ZooCard.parse(card);
  return card;
}

function describeBytes(bytes: Uint8Array) {
  return { sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

for (const name of process.argv.slice(2)) {
  const card = await measureCard(name);
  const folder = zooFolder(name);
  writeFileSync(new URL("card.json", folder), `${JSON.stringify(card, null, 2)}\n`);
  const text = new URL("card.md", folder);
  if (!BY_HAND.has(name) || !existsSync(text)) writeFileSync(text, writeCard(card));
  const { value, interval, baseline } = card.evaluation;
  process.stdout.write(
    `${name}: ${card.parameters} parameters, ${card.metric} ${value.toPrecision(4)} ` +
      `[${interval.low.toPrecision(4)}, ${interval.high.toPrecision(4)}], baseline ${baseline.value.toPrecision(4)}\n`,
  );
}
