import { chooseTile, type TileChoice } from "../../../kernels/network/tiled-operators.ts";
import type { NetworkLayout } from "../../protocol/models/network-layout.ts";
import { MAX_RUN } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";
import type { Tile } from "./tile-operators.ts";

/** Largest number of workgroups per operator and row: beyond it their start takes longer than their work. */
const MAX_SPREAD = 32;

/** Operators that run in sequence in one dispatch, and its workgroups per row. */
export interface Dispatch {
  readonly operators: readonly ReadyOp[];
  readonly groups: number;
  /** Of a heavy operator that the catalogue computes. */
  readonly tile?: Tile & TileChoice;
}

/**
 * Groups operators into dispatches: small ones in sequence in one workgroup per row, large ones alone, and heavy ones as
 * the catalogue computes them.
 */
export function scheduleOperators(
  operators: readonly ReadyOp[],
  { lanes, spreadFrom, tiling }: NetworkLayout,
): Dispatch[] {
  const dispatches: Dispatch[] = [];
  let run: ReadyOp[] = [];
  const endRun = () => {
    if (run.length > 0) dispatches.push({ operators: run, groups: 1 });
    run = [];
  };
  const add = (op: ReadyOp) => {
    const groups = op.isSerial ? 1 : Math.min(MAX_SPREAD, Math.ceil(op.items / lanes));
    if (op.work > spreadFrom && groups > 1) {
      endRun();
      dispatches.push({ operators: [op], groups });
      return;
    }
    if (run.length === MAX_RUN) endRun();
    run.push(op);
  };
  for (const op of operators) {
    const { tile } = op;
    if (tiling === null || tile === null) {
      add(op);
      continue;
    }
    const choice = chooseTile(tiling, tile.kind, tile);
    // Only tiles in registers read vectors of channels.
    if (tile.turn !== undefined && choice.structure === "in-registers") {
      const items = tile.turn["items"]!;
      add({ numbers: tile.turn, items, work: items, isSerial: false, tile: null });
    }
    endRun();
    dispatches.push({ operators: [op], groups: 1, tile: { ...tile, ...choice } });
  }
  endRun();
  return dispatches;
}
