import { parseArgs } from "node:util";

export interface HostileWish {
  readonly kind: "run";
  /** Names of attacks; never empty. */
  readonly names: readonly string[];
  /** Length of each measurement, without and with the attack. */
  readonly seconds: number;
  readonly json: boolean;
  readonly out: string | null;
}

export type Arguments =
  | HostileWish
  | { readonly kind: "list" }
  | { readonly kind: "mistake"; readonly sentence: string };

const OPTIONS = {
  only: { type: "string", multiple: true, default: [] as string[] },
  seconds: { type: "string", default: "10" },
  list: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  out: { type: "string" },
} as const;

const MAX_SECONDS = 600;

/** Reads the command line of `npm run hostile`; `known` are the names of the attacks. */
export function parseArguments(argv: readonly string[], known: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    if (values.list) return { kind: "list" };
    const wanted = values.only.flatMap((names) => names.split(","));
    const unknown = wanted.find((name) => !known.includes(name));
    if (unknown !== undefined) return mistake(`There is no attack '${unknown}'; --list names them.`);
    const seconds = Number(values.seconds);
    if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
      return mistake(`--seconds must be more than 0 and at most ${MAX_SECONDS}.`);
    }
    const names = wanted.length === 0 ? known : known.filter((name) => wanted.includes(name));
    return { kind: "run", names, seconds, json: values.json, out: values.out ?? null };
  } catch (error) {
    return mistake((error as Error).message);
  }
}

function mistake(sentence: string): Arguments {
  return { kind: "mistake", sentence };
}
