import { MAX_RUN } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";

/** Workgroups of an operator for each row at most: beyond that their beginnings take longer than their work. */
const MAX_SPREAD = 32;

/** How a network is spread over workgroups. */
export interface Layout {
  /** Lanes of a workgroup. */
  readonly lanes: number;
  /** An operator of more work than this is a dispatch of its own, over many workgroups. */
  readonly spreadFrom: number;
}

/** Operators that run behind each other in one dispatch, and its workgroups for each row. */
export interface Dispatch {
  readonly operators: readonly ReadyOp[];
  readonly groups: number;
}

/** Puts operators together into dispatches: small ones behind each other in one workgroup a row, large ones alone. */
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
