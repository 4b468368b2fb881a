import { parseArgs } from "node:util";

export interface FuzzWish {
  readonly kind: "run";
  /** Requests; 0 for none. */
  readonly http: number;
  /** Inputs of all readers together; 0 for none. */
  readonly codec: number;
  /** Programs in WGSL; 0 for none. */
  readonly wgsl: number;
  readonly seed: number;
  /** Names of readers; empty for all. */
  readonly only: readonly string[];
  readonly json: boolean;
  readonly out: string | null;
}

export type FuzzArguments = FuzzWish | { readonly kind: "mistake"; readonly sentence: string };

/** Seeds of fast-check are whole numbers of 32 bits; parts of a run count up from theirs. */
const LAST_SEED = 2 ** 30;
const OPTIONS = {
  http: { type: "string", default: "100000" },
  codec: { type: "string", default: "1000000" },
  wgsl: { type: "string", default: "20000" },
  seed: { type: "string", default: "20261122" },
  only: { type: "string", multiple: true, default: [] as string[] },
  json: { type: "boolean", default: false },
  out: { type: "string" },
} as const;

/** Reads the command line; `known` are the names of the readers. Naming one leaves the others out, unless `--http` or `--wgsl` is given. */
export function parseFuzzArguments(argv: readonly string[], known: readonly string[]): FuzzArguments {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    const isLeftOut = (option: string) => values.only.length > 0 && !argv.some((each) => each.startsWith(option));
    const http = isLeftOut("--http") ? 0 : readCount(values.http);
    const wgsl = isLeftOut("--wgsl") ? 0 : readCount(values.wgsl);
    const codec = readCount(values.codec);
    const seed = readCount(values.seed);
    if (http === null) return mistake("--http must be a whole number from 0 up.");
    if (codec === null) return mistake("--codec must be a whole number from 0 up.");
    if (wgsl === null) return mistake("--wgsl must be a whole number from 0 up.");
    if (seed === null || seed > LAST_SEED) return mistake(`--seed must be a whole number from 0 to ${LAST_SEED}.`);
    const unknown = values.only.find((name) => !known.includes(name));
    if (unknown !== undefined) return mistake(`There is no reader '${unknown}'; there are: ${known.join(", ")}.`);
    return { kind: "run", http, codec, wgsl, seed, only: values.only, json: values.json, out: values.out ?? null };
  } catch (error) {
    return mistake((error as Error).message);
  }
}

function readCount(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

function mistake(sentence: string): FuzzArguments {
  return { kind: "mistake", sentence };
}
