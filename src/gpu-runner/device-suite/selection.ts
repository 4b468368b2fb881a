import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Check } from "./check.ts";
import { REST } from "./suite.ts";

/** The checks that a command line names: parts, or beginnings of checks such as `networks/lenet5`; all where none. */
export class Selection {
  readonly #entries: readonly string[];
  /** Entries that name a check. */
  readonly #found = new Set<string>();

  /** Fails with `invalid-request` where an entry is of no part. */
  constructor(list: string, parts: readonly string[]) {
    this.#entries = list.split(",").filter((each) => each !== "");
    const unknown = this.#entries.find((each) => !parts.includes(partOf(each)));
    if (unknown === undefined) return;
    throw new ProblemError("invalid-request", `--only ${unknown} names no part; there are: ${parts.join(", ")}.`);
  }

  hasPart(part: string): boolean {
    return this.#entries.length === 0 || this.#entries.some((each) => partOf(each) === part);
  }

  hasCheck(part: string, name: string): boolean {
    const naming = this.#entries.filter((each) => each === part || `${part}/${name}`.startsWith(each));
    for (const each of naming) this.#found.add(each);
    return this.#entries.length === 0 || naming.length > 0;
  }

  /** Fails with `invalid-request` where an entry names no check, though its part was gone through to the end. */
  refuseUnknown(checks: readonly Check[]): void {
    const ended = new Set(checks.flatMap(({ part, name }) => (name === REST ? [part] : [])));
    const unknown = this.#entries.find((each) => !this.#found.has(each) && !ended.has(partOf(each)));
    if (unknown !== undefined) throw new ProblemError("invalid-request", `--only ${unknown} names no check.`);
  }
}

function partOf(entry: string): string {
  return entry.split("/")[0]!;
}
