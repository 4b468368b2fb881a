import { chooseNarrowTile, chooseTile, type TileChoice } from "../../../kernels/network/tiled-operators.ts";
import type { NetworkLayout } from "../../protocol/models/network-layout.ts";
import { MAX_GROUPS } from "../../../kernels/webgpu-limits.ts";
import { MAX_RUN } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";
import type { Tile } from "./tile-operators.ts";

/**
 * Programs of a dispatch beside tiles: the one program, long lines, attention in one step, and rounding for narrow
 * products.
 */
export type Entry = "run_network" | "run_lines" | "attend" | "round_rows";

/** Operators that run in sequence in one dispatch, or as one step, and its workgroups along x and z per row. */
export interface Dispatch {
  readonly operators: readonly ReadyOp[];
  readonly entry: Entry;
  /** Of a workgroup, where they are not the program's own. */
  readonly lanes: number;
  readonly groups: readonly [number, number];
  /** Of an operator that the catalogue computes. */
  readonly tile?: Tile & TileChoice;
}

/**
 * Groups operators into dispatches: small ones in sequence in one workgroup per row, large ones alone, and those with a
 * tile as the catalogue computes them.
 */
export function scheduleOperators(operators: readonly ReadyOp[], layout: NetworkLayout): Dispatch[] {
  const { lanes, spreadFrom, tiling, groupsAtMost, lineLanes } = layout;
  const dispatches: Dispatch[] = [];
  let run: ReadyOp[] = [];
  const endRun = () => {
    if (run.length > 0) dispatches.push({ operators: run, entry: "run_network", lanes, groups: [1, 1] });
    run = [];
  };
  const addAlone = (dispatch: Dispatch) => {
    endRun();
    dispatches.push(dispatch);
  };
  const add = (op: ReadyOp) => {
    if (lineLanes !== null && op.line > 0) {
      const groups = Math.min(MAX_GROUPS, op.items);
      addAlone({ operators: [op], entry: "run_lines", lanes: lineLanes, groups: [groups, 1] });
      return;
    }
    const groups = op.isSerial ? 1 : Math.min(groupsAtMost, Math.ceil(op.items / lanes));
    if (op.work > spreadFrom && groups > 1) {
      addAlone({ operators: [op], entry: "run_network", lanes, groups: [groups, 1] });
      return;
    }
    if (run.length === MAX_RUN) endRun();
    run.push(op);
  };
  const attentions = layout.hasAttention ? operators.flatMap(({ attention }) => attention ?? []) : [];
  const parts = new Set(attentions.flatMap((attention) => attention.parts.slice(0, -1)));
  for (const op of operators) {
    const { tile, attention, narrow } = op;
    if (parts.has(op)) continue;
    if (layout.hasNarrowProducts && narrow !== null) {
      const groups = [Math.min(MAX_GROUPS, narrow.tile.rows), 1] as const;
      if (narrow.isFirst) addAlone({ operators: [op], entry: "round_rows", lanes, groups });
      const placed = { ...narrow.tile, ...chooseNarrowTile(narrow.tile, narrow.bits) };
      addAlone({ operators: [op], entry: "run_network", lanes, groups: [1, 1], tile: placed });
      continue;
    }
    if (layout.hasAttention && attention !== null) {
      const groups = [attention.tiles, attention.products] as const;
      addAlone({ operators: attention.parts, entry: "attend", lanes, groups });
      continue;
    }
    if (tiling === null || tile === null) {
      add(op);
      continue;
    }
    const choice = chooseTile(tiling, tile.kind, tile);
    // Smaller operators are for slices alone, and only where they are worth a dispatch.
    const isLeft = !tile.isHeavy && (choice.structure !== "in-slices" || op.work <= spreadFrom);
    const [across, down] = choice.variant.passes[0]!.workgroups(tile, choice.axes);
    if (isLeft || Math.max(across, down) > MAX_GROUPS) {
      add(op);
      continue;
    }
    // Only tiles in registers read vectors of channels.
    if (tile.turn !== undefined && choice.structure === "in-registers") {
      const items = tile.turn["items"]!;
      add({ ...op, numbers: tile.turn, items, work: items, tile: null, narrow: null });
    }
    const placed = { ...tile, ...choice };
    addAlone({ operators: [op], entry: "run_network", lanes, groups: [1, 1], tile: placed });
  }
  endRun();
  return dispatches;
}
