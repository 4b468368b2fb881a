import { createHash } from "node:crypto";
import type { Tally } from "./archive.ts";

/** Counts rows and sums up their digests, so that the order in which they came does not matter. */
export class RowTally {
  #rows = 0;
  #sum = 0n;

  /** Takes a row as its text: the first 64 bits of its SHA-256 are added, modulo 2⁶⁴. */
  add(line: string): void {
    this.#rows++;
    const digest = createHash("sha256").update(line).digest();
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64BE());
  }

  read(): Tally {
    return { rows: this.#rows, digest: this.#sum.toString(16).padStart(16, "0") };
  }
}
