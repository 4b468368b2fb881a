/** A series with its value, by its full name. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = String.raw`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"`;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:${LABEL}(?:,(?!\\})|(?=\\})))*)\\})? (\\S+)$`);
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  summary: ["_sum", "_count"],
  histogram: ["_bucket", "_sum", "_count"],
};

/**
 * Reads Prometheus' text format 0.0.4, or OpenMetrics where the text ends like it. It is strict: it throws where a
 * family is split or has no description, a series appears twice, or a histogram does not add up.
 */
export function parseMetrics(text: string): Map<string, ParsedFamily> {
  const isOpen = text.endsWith("# EOF\n");
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error("the last line has no end");
  if (isOpen) lines.pop();
  const families = new Map<string, { help: string; type: string; samples: ParsedSample[] }>();
  const seen = new Set<string>();
  let current = "";
  for (const line of lines) {
    const [, kind, name = "", rest = ""] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line) ?? [];
    if (kind === "HELP") {
      if (families.has(name)) throw new Error(`${name} is described twice`);
      families.set(name, { help: unescape(rest), type: "", samples: [] });
      current = name;
      continue;
    }
    const family = families.get(current);
    if (family === undefined) throw new Error(`before any family: ${line}`);
    if (kind === "TYPE") {
      if (name !== current || family.type !== "" || family.samples.length > 0) throw new Error(`misplaced: ${line}`);
      family.type = rest;
      continue;
    }
    const sample = parseSample(line);
    const suffixes = SUFFIXES[family.type] ?? [isOpen && family.type === "counter" ? "_total" : ""];
    if (!suffixes.some((suffix) => sample.name === `${current}${suffix}`))
      throw new Error(`not of ${current}, a ${family.type}: ${line}`);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    family.samples.push(sample);
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family.samples);
  return families;
}

/** The value of a series; undefined where there is none. */
export function valueOf(
  families: ReadonlyMap<string, ParsedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = [...families.values()].flatMap(({ samples }) => samples);
  return all.find(
    (sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  )?.value;
}

function parseSample(line: string): ParsedSample {
  const match = SAMPLE.exec(line);
  const [name = "", pairs = "", number = ""] = [match?.[1], match?.[2], match?.at(-1)];
  const value = { "+Inf": Number.POSITIVE_INFINITY, "-Inf": Number.NEGATIVE_INFINITY, NaN: Number.NaN }[number];
  if (match === null || (value === undefined && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(number)))
    throw new Error(`no sample: ${line}`);
  const found = [...pairs.matchAll(new RegExp(LABEL, "g"))].map(([, label = "", text = ""]) => [label, unescape(text)]);
  const labels = Object.fromEntries(found) as Record<string, string>;
  if (Object.keys(labels).length !== found.length) throw new Error(`a label stands twice: ${line}`);
  return { name, labels, value: value ?? Number(number) };
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
}

function checkHistogram(name: string, samples: readonly ParsedSample[]): void {
  const bySeries = Map.groupBy(samples, (sample) => {
    const { le: _, ...labels } = sample.labels;
    return JSON.stringify(labels);
  });
  for (const series of bySeries.values()) {
    const buckets = series.filter((sample) => sample.name === `${name}_bucket`);
    const count = series.find((sample) => sample.name === `${name}_count`)?.value;
    const last = buckets.at(-1);
    if (last?.labels["le"] !== "+Inf" || last.value !== count)
      throw new Error(`${name} has not all in its last bucket`);
    for (const [index, { value, labels }] of buckets.entries()) {
      const before = buckets[index - 1];
      if (before === undefined) continue;
      const isRising = Number(before.labels["le"]) < Number(labels["le"]?.replace("+Inf", "Infinity"));
      if (value < before.value || !isRising) throw new Error(`${name} falls at ${labels["le"]}`);
    }
  }
}
