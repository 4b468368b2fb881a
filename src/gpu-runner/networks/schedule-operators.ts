import { MAX_RUN } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";

/** Largest number of workgroups per operator and row: beyond it their start takes longer than their work. */
const MAX_SPREAD = 32;

/** Spread of a network over workgroups. */
export interface Layout {
  /** Lanes per workgroup. */
  readonly lanes: number;
  /** An operator with more work than this gets a dispatch of its own with many workgroups. */
  readonly spreadFrom: number;
}

/** Operators that run in sequence in one dispatch, and its workgroups per row. */
export interface Dispatch {
  readonly operators: readonly ReadyOp[];
  readonly groups: number;
}

/** Groups operators into dispatches: small ones in sequence in one workgroup per row, large ones alone. */
export function scheduleOperators(operators: readonly ReadyOp[], { lanes, spreadFrom }: Layout): Dispatch[] {
  const dispatches: Dispatch[] = [];
  let run: ReadyOp[] = [];
  const endRun = () => {
    if (run.length > 0) dispatches.push({ operators: run, groups: 1 });
    run = [];
  };
  for (const op of operators) {
    const groups = op.isSerial ? 1 : Math.min(MAX_SPREAD, Math.ceil(op.items / lanes));
    if (op.work > spreadFrom && groups > 1) {
      endRun();
      dispatches.push({ operators: [op], groups });
      continue;
    }
    if (run.length === MAX_RUN) endRun();
    run.push(op);
  }
  endRun();
  return dispatches;
}
