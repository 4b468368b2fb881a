import { Command, InvalidArgumentError } from "commander";

export interface SoakOptions {
  readonly minutes: number;
  /** Share of the measured capacity. */
  readonly load: number;
  /** The overload: a multiple of the capacity, and its duration. */
  readonly factor: number;
  readonly overloadSeconds: number;
  readonly json: boolean;
  /** Folder for figures and plots. */
  readonly out?: string;
}

/** Options of `npm run soak`; a wrong one ends the process with a message. */
export function readSoakArguments(argv: readonly string[]): SoakOptions {
  const command = new Command("npm run soak --")
    .description(
      "Half an hour under load with jobs running, then an overload: what grows, what is refused, what comes back",
    )
    .option("--minutes <n>", "length of the soak", positive, 30)
    .option("--load <share>", "share of the capacity that is measured first", positive, 0.7)
    .option("--factor <n>", "the overload: so many times the capacity", positive, 10)
    .option("--overload-seconds <n>", "length of the overload", positive, 60)
    .option("--json", "print the figures as one JSON object", false)
    .option("--out <folder>", "keep figures and plots there")
    .parse(argv, { from: "user" });
  return command.opts<SoakOptions>();
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("must be a number above 0.");
}
