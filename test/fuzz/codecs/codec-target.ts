import type * as fc from "fast-check";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";

/** A reader, and bytes to try it with. */
export interface CodecTarget {
  readonly name: string;
  /** Its share of the inputs, against the others'. */
  readonly weight: number;
  readonly inputs: fc.Arbitrary<Uint8Array>;
  /** Reads an input, and throws where the outcome is neither an answer nor a refusal that the reader declares. */
  readonly check: (input: Uint8Array) => void | Promise<void>;
}

type ErrorClass = abstract new (...parameters: never[]) => Error;

/** The outcome of a reader; undefined where it refused by one of the errors that it may throw. */
export function orRefused<Value>(read: () => Value, ...refusals: readonly ErrorClass[]): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return undefined;
    throw error;
  }
}

/** Of what refuses by a promise: nothing for a problem, which is a refusal. */
export function refusedOnly(error: unknown): undefined {
  if (!(error instanceof ProblemError)) throw error;
}

/** Throws where a value that was read violates its property. */
export function hold(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`it does not hold that ${what}`);
}
