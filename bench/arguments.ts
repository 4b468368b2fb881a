import { parseArgs } from "node:util";

export type Arguments =
  | { readonly kind: "list" }
  | {
      readonly kind: "run";
      readonly benches: readonly string[];
      readonly rounds: number;
      readonly json: boolean;
      readonly save: boolean;
    }
  | { readonly kind: "mistake"; readonly sentence: string };

/** Fewer rounds give no useful median. */
const MIN_ROUNDS = 5;

const OPTIONS = {
  list: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  save: { type: "boolean", default: false },
  rounds: { type: "string", default: String(MIN_ROUNDS) },
} as const;

/** Reads the command line; `known` are the names of the benches. */
export function parseArguments(argv: readonly string[], known: readonly string[]): Arguments {
  const names = `the benches are: ${known.join(", ")}`;
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    if (values.list) return { kind: "list" };
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown !== undefined) return mistake(`There is no bench '${unknown}'; ${names}.`);
    if (positionals.length === 0) return mistake(`Say which bench to run; ${names}.`);
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < MIN_ROUNDS)
      return mistake(`--rounds must be a whole number from ${MIN_ROUNDS} up.`);
    return { kind: "run", benches: positionals, rounds, json: values.json, save: values.save };
  } catch (error) {
    return mistake((error as Error).message);
  }
}

function mistake(sentence: string): Arguments {
  return { kind: "mistake", sentence };
}
