import { KIND } from "./network-op.ts";
import type { ProgramConstants } from "./network-program.ts";
import type { ReadyOp } from "./plan-network.ts";
import type { Layout } from "./schedule-operators.ts";

/** Of two operands, in kernels/network/map.wgsl. */
const POWER = 5;

/** What the program leaves out for a network, and how many lanes it has. */
export function constantsOf(operators: readonly ReadyOp[], { lanes }: Pick<Layout, "lanes">): ProgramConstants {
  const has = (test: (numbers: ReadyOp["numbers"]) => boolean) =>
    Number(operators.some(({ numbers }) => test(numbers)));
  const hasKind = (...kinds: (keyof typeof KIND)[]) => has(({ kind }) => kinds.some((each) => KIND[each] === kind));
  return {
    lanes,
    has_map: hasKind("map"),
    has_convolve: hasKind("convolve"),
    has_convolve_each: hasKind("convolveEach"),
    has_dense: has(({ kind, rows }) => kind === KIND.dense && rows === 1),
    has_dense_rows: has(({ kind, rows = 1 }) => kind === KIND.dense && rows > 1),
    has_pool: hasKind("pool"),
    has_reduce: hasKind("reduce"),
    has_softmax: hasKind("softmax"),
    has_recur: hasKind("gru", "lstm"),
    has_power: has(({ kind, which }) => kind === KIND.map && which === POWER),
    has_transposed: has(({ kind, which }) => (kind === KIND.convolve || kind === KIND.convolveEach) && which === 1),
    has_summands: has(({ kind, other }) => kind !== KIND.map && other !== undefined),
    has_grid: has(({ quantised }) => quantised === 1),
    activations: operators.reduce((bits, { numbers }) => bits | (1 << (numbers["activation"] ?? 0)), 0),
    has_packed: has(({ weightType = 0 }) => weightType !== 0),
  };
}
