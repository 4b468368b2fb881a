import { parseArgs } from "node:util";

export type Arguments =
  | {
      readonly kind: "run";
      readonly seeds: readonly number[];
      /** Duration of the faults for each seed, in milliseconds. */
      readonly durationMs: number;
      readonly runners: number;
      readonly json: boolean;
      readonly out: string | null;
    }
  | { readonly kind: "mistake"; readonly sentence: string };

const OPTIONS = {
  minutes: { type: "string", default: "4" },
  seed: { type: "string", default: "1" },
  seeds: { type: "string" },
  runners: { type: "string", default: "3" },
  json: { type: "boolean", default: false },
  out: { type: "string" },
} as const;

const MAX_MINUTES = 1_440;
const MAX_SEED = 2 ** 26 - 1;
const MAX_RUNNERS = 8;

/** Reads the command line of `npm run chaos`: the minutes are shared out among the seeds. */
export function parseArguments(argv: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    const seeds = (values.seeds ?? values.seed).split(",").map(Number);
    if (!seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed <= MAX_SEED)) {
      return mistake(`--seed and --seeds take whole numbers from 0 to ${MAX_SEED}, with commas between them.`);
    }
    const minutes = Number(values.minutes);
    if (!(minutes > 0 && minutes <= MAX_MINUTES))
      return mistake(`--minutes must be more than 0 and at most ${MAX_MINUTES}.`);
    const runners = Number(values.runners);
    if (!Number.isInteger(runners) || runners < 1 || runners > MAX_RUNNERS) {
      return mistake(`--runners must be a whole number from 1 to ${MAX_RUNNERS}.`);
    }
    const durationMs = (minutes * 60e3) / seeds.length;
    return { kind: "run", seeds, durationMs, runners, json: values.json, out: values.out ?? null };
  } catch (error) {
    return mistake((error as Error).message);
  }
}

function mistake(sentence: string): Arguments {
  return { kind: "mistake", sentence };
}
