import type { Evaluation, ZooCard } from "./model-card.ts";

/** Metrics in percent; others are plain numbers. */
const PERCENT: ReadonlySet<string> = new Set(["accuracy", "binary-accuracy", "character-accuracy"]);
const KINDS = { real: "Real", simulated: "Simulated", synthesised: "Synthesised" } as const;

/** `card.md`: a card for people. */
export function writeCard(card: ZooCard): string {
  const { name, task, architecture, parameters, file, heldOut, evaluation, data, training } = card;
  const figure = (estimate: Pick<Evaluation, "value" | "interval">) => showEstimate(card.metric, estimate);
  const baseline = evaluation.baseline;
  return [
    `# ${name}`,
    "",
    `A network of the zoo (${card.category}): it ${task}. The same facts for programs: [card.json](card.json).`,
    "",
    "| | |",
    "| --- | --- |",
    `| file | \`${file.name}\`, opset ${file.opset}, weights inside, ${count(file.sizeBytes)} bytes |`,
    `| network | ${escape(architecture)} |`,
    `| parameters | ${count(parameters)}, counted from the file |`,
    ...card.inputs.map((tensor) => describeTensor("input", tensor)),
    ...card.outputs.map((tensor) => describeTensor("output", tensor)),
    `| **held-out ${card.metric}** | **${figure(evaluation)}** (95 %, ${evaluation.interval.method}), n = ${count(evaluation.n)} |`,
    `| baseline | ${figure(baseline)}${baseline.name === undefined ? "" : `: ${escape(baseline.name)}`} |`,
    "",
    `${metricNote(card.metric)} The baseline is the best answer of somebody who does not look at the inputs; it stands in`,
    `\`${heldOut.file}\` (${count(heldOut.rows)} samples, ${count(heldOut.sizeBytes)} bytes) beside the samples.`,
    "",
    "## Data",
    "",
    `${KINDS[data.kind]}: ${data.source}.`,
    "",
    `Split: ${data.split}.`,
    "",
    `Licence: ${data.licence}.`,
    "",
    "## Training",
    "",
    "```",
    training.command,
    "```",
    "",
    `${training.method}. Settings: ${list(training.settings)}. Outcome: ${list(training.outcome)}. Versions: ${list(training.versions)}.`,
    "",
    "## Use and limits",
    "",
    `For ${card.intendedUse.replace(/^for /, "")}.`,
    "",
    ...card.limits.map((limit) => `- ${limit}`),
    "",
  ].join("\n");
}

function metricNote(metric: ZooCard["metric"]): string {
  return `\`${metric}\` is defined in [models/README.md](../README.md).`;
}

function describeTensor(kind: string, { name, dtype, shape, meaning }: ZooCard["inputs"][number]): string {
  const sizes = shape.map((size) => (size < 0 ? "batch" : size)).join(", ");
  return `| ${kind} | \`${name}\`, ${dtype} [${sizes}]: ${escape(meaning)} |`;
}

function showEstimate(metric: string, { value, interval }: Pick<Evaluation, "value" | "interval">): string {
  const show = (number: number) =>
    PERCENT.has(metric)
      ? `${(100 * number).toFixed(2)} %`
      : number.toLocaleString("en", { maximumSignificantDigits: 4 });
  return `${show(value)} [${show(interval.low)}, ${show(interval.high)}]`;
}

function list(entries: Readonly<Record<string, string | number>>): string {
  return Object.entries(entries)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

function count(number: number): string {
  return number.toLocaleString("en");
}

/** A vertical bar would end a cell of the table. */
function escape(text: string): string {
  return text.replaceAll("|", "\\|");
}
