import type { Tiling } from "../../../kernels/network/tiled-operators.ts";
import { MAX_GROUPS } from "../../../kernels/webgpu-limits.ts";
import { MAX_RUN } from "./lowering/network-op.ts";
import type { ReadyOp } from "./plan-network.ts";
import type { Tile } from "./tile-operators.ts";

/** Spread of a network over workgroups. */
export interface Layout {
  /** Lanes per workgroup. */
  readonly lanes: number;
  /** An operator with more work than this gets a dispatch of its own with many workgroups. */
  readonly spreadFrom: number;
  /** Structure of the catalogue that computes heavy operators; null where the one program computes all. */
  readonly tiling: Tiling | null;
  /** Largest number of workgroups per operator and row in the one program. */
  readonly groupsAtMost: number;
  /** Lanes of a workgroup that shares a long line; null where each line is one lane's. */
  readonly lineLanes: number | null;
  /** Whether attention is one step. */
  readonly hasAttention: boolean;
}

/** The layout that suits software devices: the one program in few workgroups. */
export const PLAIN = { tiling: null, groupsAtMost: 32, lineLanes: null, hasAttention: false } as const;

/** Programs of a dispatch beside tiles: the one program, long lines, and attention in one step. */
export type Entry = "run_network" | "run_lines" | "attend";

/** Operators that run in sequence in one dispatch, or as one step, and its workgroups along x and z per row. */
export interface Dispatch {
  readonly operators: readonly ReadyOp[];
  readonly entry: Entry;
  /** Of a workgroup, where they are not the program's own. */
  readonly lanes: number;
  readonly groups: readonly [number, number];
  /** Of a heavy operator that the catalogue computes. */
  readonly tile?: Tile;
}

/**
 * Groups operators into dispatches: small ones in sequence in one workgroup per row, large ones alone, and heavy ones as
 * the catalogue computes them.
 */
export function scheduleOperators(operators: readonly ReadyOp[], layout: Layout): Dispatch[] {
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
    const { tile, attention } = op;
    if (parts.has(op)) continue;
    if (layout.hasAttention && attention !== null) {
      const groups = [attention.tiles, attention.products] as const;
      addAlone({ operators: attention.parts, entry: "attend", lanes, groups });
      continue;
    }
    if (tiling === null || tile === null) {
      add(op);
      continue;
    }
    // Only tiles in registers read vectors of channels.
    if (tile.turn !== undefined && tiling === "in-registers") {
      const items = tile.turn["items"]!;
      add({ ...op, numbers: tile.turn, items, work: items, tile: null });
    }
    addAlone({ operators: [op], entry: "run_network", lanes, groups: [1, 1], tile });
  }
  endRun();
  return dispatches;
}
