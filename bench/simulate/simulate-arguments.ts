import { parseArgs } from "node:util";
import type { Heartbeats } from "./sim-queue.ts";

/** Options of a simulator run. */
export interface SimulateOptions {
  readonly runners: number;
  readonly rps: number;
  readonly seconds: number;
  /** Earlier arrivals are not counted. */
  readonly warmUpSeconds: number;
  readonly seed: number;
  readonly tenants: number;
  readonly models: number;
  readonly isolates: number;
  readonly budgetMs: number;
  readonly serviceMs: number;
  readonly wayMs: number;
  readonly lossRate: number;
  readonly jobRate: number;
  readonly arrivals: "poisson" | "bursty";
  readonly heartbeats: Heartbeats;
  /** Multiples of `rps` that are simulated one after the other. */
  readonly loads: readonly number[];
  readonly validate: boolean;
  readonly rounds: number;
  readonly json: boolean;
  readonly out: string | null;
}

export type SimulateArguments =
  | { readonly kind: "run"; readonly options: SimulateOptions }
  | { readonly kind: "mistake"; readonly sentence: string };

/** Numeric options: minimum, maximum and default. */
const NUMBERS = {
  runners: [1, 100_000, 1_000],
  rps: [0.1, 1_000_000, 5_000],
  seconds: [1, 3_600, 20],
  "warm-up": [0, 600, 5],
  seed: [0, 2 ** 32 - 1, 1],
  tenants: [1, 10_000, 10],
  models: [1, 10_000, null],
  isolates: [1, 10_000, null],
  "budget-ms": [1, 60_000, 500],
  "service-ms": [0.01, 60_000, 100],
  "way-ms": [0, 10_000, 20],
  "loss-rate": [0, 1_000, 1],
  "job-rate": [0, 10_000, null],
  rounds: [1, 100, 5],
} as const;
type NumberName = keyof typeof NUMBERS;
const WHOLE = new Set<NumberName>(["runners", "seconds", "seed", "tenants", "models", "isolates", "rounds"]);

/** Defaults: runners per model, requests per second of an isolate, and runners for each job per second. */
const RUNNERS_PER_MODEL = 125;
const RPS_PER_ISOLATE = 1_000;
const RUNNERS_PER_JOB = 1_000;

const text = { type: "string" } as const;
const flag = { type: "boolean", default: false } as const;
const OPTIONS = {
  ...(Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, text])) as Record<NumberName, typeof text>),
  arrivals: { ...text, default: "poisson" },
  heartbeats: { ...text, default: "leased" },
  loads: { ...text, default: "1" },
  out: text,
  validate: flag,
  json: flag,
};

/** Reads the command line of the simulator. */
export function parseSimulateArguments(argv: readonly string[]): SimulateArguments {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS });
    const read = (name: NumberName, fallback: number) => readNumber(name, values[name], fallback);
    const runners = read("runners", NUMBERS.runners[2]);
    const rps = read("rps", NUMBERS.rps[2]);
    const options: SimulateOptions = {
      runners,
      rps,
      seconds: read("seconds", NUMBERS.seconds[2]),
      warmUpSeconds: read("warm-up", NUMBERS["warm-up"][2]),
      seed: read("seed", NUMBERS.seed[2]),
      tenants: read("tenants", NUMBERS.tenants[2]),
      models: read("models", Math.max(1, Math.round(runners / RUNNERS_PER_MODEL))),
      isolates: read("isolates", Math.max(1, Math.ceil(rps / RPS_PER_ISOLATE))),
      budgetMs: read("budget-ms", NUMBERS["budget-ms"][2]),
      serviceMs: read("service-ms", NUMBERS["service-ms"][2]),
      wayMs: read("way-ms", NUMBERS["way-ms"][2]),
      lossRate: read("loss-rate", NUMBERS["loss-rate"][2]),
      jobRate: read("job-rate", runners / RUNNERS_PER_JOB),
      arrivals: readWord("arrivals", values.arrivals, ["poisson", "bursty"]),
      heartbeats: readWord("heartbeats", values.heartbeats, ["leased", "every"]),
      loads: readLoads(values.loads),
      validate: values.validate,
      rounds: read("rounds", NUMBERS.rounds[2]),
      json: values.json,
      out: values.out ?? null,
    };
    return { kind: "run", options };
  } catch (error) {
    return { kind: "mistake", sentence: (error as Error).message };
  }
}

function readNumber(name: NumberName, given: string | undefined, fallback: number): number {
  if (given === undefined) return fallback;
  const [least, most] = NUMBERS[name];
  const value = Number(given);
  const isFine =
    given.trim() !== "" && value >= least && value <= most && (!WHOLE.has(name) || Number.isInteger(value));
  if (!isFine)
    throw new RangeError(`--${name} must be a ${WHOLE.has(name) ? "whole " : ""}number from ${least} to ${most}.`);
  return value;
}

function readWord<Word extends string>(name: string, given: string, known: readonly Word[]): Word {
  const word = known.find((each) => each === given);
  if (word === undefined) throw new RangeError(`--${name} must be ${known.join(" or ")}.`);
  return word;
}

function readLoads(given: string): number[] {
  const loads = given.split(",").map(Number);
  if (!loads.every((load) => load > 0 && load <= 100)) {
    throw new RangeError("--loads must be multiples of --rps above 0, up to 100, with commas between them.");
  }
  return loads;
}
