import type { BufferPool } from "../devices/gpu/buffer-pool.ts";
import { MAX_RUN, OP_BYTES, writeOp } from "./lowering/network-op.ts";
import type { NetworkPlan } from "./plan-network.ts";
import type { Dispatch } from "./schedule-operators.ts";

/** Bytes of a table in the kernel's binding. */
const TABLE_BYTES = MAX_RUN * OP_BYTES;

/** Dispatches with their bindings, for up to this many rows at a time. */
export interface BoundNetwork {
  readonly rows: number;
  readonly ends: GPUBuffer;
  readonly staging: GPUBuffer;
  /** In the order of the dispatches. */
  readonly bindings: readonly GPUBindGroup[];
  release(): void;
}

/** Tables of all dispatches in one buffer; each is bound at its own offset. */
export function writeTables(dispatches: readonly Dispatch[]): { bytes: Uint8Array<ArrayBuffer>; offsets: number[] } {
  const operators = dispatches.flatMap((dispatch) => dispatch.operators);
  const bytes = new Uint8Array(operators.length * OP_BYTES + TABLE_BYTES);
  const table = new DataView(bytes.buffer);
  const offsets: number[] = [];
  let at = 0;
  for (const dispatch of dispatches) {
    offsets.push(at);
    for (const { numbers } of dispatch.operators) {
      writeOp(table, at, { ...numbers, run: dispatch.operators.length });
      at += OP_BYTES;
    }
  }
  return { bytes, offsets };
}

/**
 * Allocates buffers for this many rows and binds them. Fails with `out-of-memory`. Requests run beside other work on
 * the device, so they must not enter its error scopes.
 */
export function bindNetwork(
  { device, pool }: { readonly device: GPUDevice; readonly pool: BufferPool },
  layout: GPUBindGroupLayout,
  { arenaWords, endWords }: Pick<NetworkPlan, "arenaWords" | "endWords">,
  {
    weights,
    table,
    offsets,
    rows,
  }: {
    readonly weights: GPUBuffer;
    readonly table: GPUBuffer;
    readonly offsets: readonly number[];
    readonly rows: number;
  },
): BoundNetwork {
  const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
  const taken: GPUBuffer[] = [];
  const take = (words: number, usage: GPUBufferUsageFlags) => {
    const buffer = pool.acquire(4 * words, usage);
    taken.push(buffer);
    return buffer;
  };
  const release = () => taken.splice(0).forEach((buffer) => pool.release(buffer));
  try {
    // Bindings extend to the ends of the buffers, beyond the words in use. The pool clears them once for all requests.
    const arena = take(rows * arenaWords, STORAGE | COPY_DST);
    const ends = take(rows * endWords, STORAGE | COPY_DST | COPY_SRC);
    const staging = take(rows * endWords, MAP_READ | COPY_DST);
    const buffers = [weights, weights, arena, ends];
    const bindings = offsets.map((offset) =>
      device.createBindGroup({
        layout,
        entries: [
          { binding: 0, resource: { buffer: table, offset, size: TABLE_BYTES } },
          ...buffers.map((buffer, place) => ({ binding: place + 1, resource: { buffer } })),
        ],
      }),
    );
    return { rows, ends, staging, bindings, release };
  } catch (error) {
    release();
    throw error;
  }
}
