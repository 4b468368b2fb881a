import type { Attacker } from "../attacker/attacker.ts";

/** Something that a tenant may do with its keys and that others should not feel. */
export interface Attack {
  readonly name: string;
  /** What it does, as a sentence without its end. */
  readonly does: string;
  /** What it needs first, which is not measured; it gives the attack itself, which goes on until the attacker's signal. */
  readonly prepare: (attacker: Attacker) => Promise<() => Promise<unknown>> | (() => Promise<unknown>);
}
