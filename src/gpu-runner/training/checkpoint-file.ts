import { z } from "zod";
import { CurvePoint } from "../../protocol/jobs/training.ts";
import type { StrategyState } from "./strategy.ts";
import type { TrainingState } from "./train-policy.ts";

/** State from which a training continues. */
export interface Checkpoint {
  /** Digest of the environment's program: another one means another training. */
  readonly environmentDigest: string | null;
  readonly state: TrainingState;
  readonly strategy: StrategyState;
}

const ARRAYS = { F32: Float32Array, F64: Float64Array, U32: Uint32Array } as const;
type ArrayKind = keyof typeof ARRAYS;

/** Name of the best policy's row; the strategy's own arrays have a prefix. */
const BEST_POLICY = "best.policy";
const STRATEGY_PREFIX = "strategy.";

const Numbers = z.object({
  environmentDigest: z.string().nullable(),
  generations: z.number().int().min(1),
  steps: z.number(),
  evaluations: z.number(),
  elapsedMs: z.number(),
  solvedAtGeneration: z.number().int().nullable(),
  curve: z.array(CurvePoint).readonly(),
  best: z.object({ generation: z.number().int(), mean: z.number() }).nullable(),
});

const Header = z
  .object({ __metadata__: z.object({ training: z.string() }) })
  .catchall(z.object({ dtype: z.enum(["F32", "F64", "U32"]), data_offsets: z.tuple([z.number(), z.number()]) }));

/**
 * Checkpoint as a safetensors file: arrays of the strategy and of the best policy by name, and everything else as JSON
 * in the metadata.
 * Source: https://github.com/huggingface/safetensors
 */
export function encodeCheckpoint({ environmentDigest, state, strategy }: Checkpoint): Uint8Array<ArrayBuffer> {
  const { best, ...numbers } = state;
  const arrays = [
    ...Object.entries(strategy).map(([name, array]) => [STRATEGY_PREFIX + name, array] as const),
    ...(best === null ? [] : [[BEST_POLICY, best.policy] as const]),
  ].toSorted(([, a], [, b]) => b.BYTES_PER_ELEMENT - a.BYTES_PER_ELEMENT);
  const training = {
    ...numbers,
    environmentDigest,
    best: best && { generation: best.generation, mean: best.mean },
  } satisfies z.infer<typeof Numbers>;
  let at = 0;
  const entries = arrays.map(([name, array]) => {
    const begin = at;
    at += array.byteLength;
    return [name, { dtype: kindOf(array), shape: [array.length], data_offsets: [begin, at] }];
  });
  const header = JSON.stringify({
    __metadata__: { training: JSON.stringify(training) },
    ...Object.fromEntries(entries),
  });
  // Padded so that numbers of 8 bytes lie at a multiple of 8.
  const text = new TextEncoder().encode(header.padEnd(8 * Math.ceil(header.length / 8)));
  const file = new Uint8Array(8 + text.length + at);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  let offset = 8 + text.length;
  for (const [, array] of arrays) {
    file.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset);
    offset += array.byteLength;
  }
  return file;
}

/** Reads a checkpoint from a file. Throws where it is none. */
export function decodeCheckpoint(file: Uint8Array): Checkpoint {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const start = 8 + Number(view.getBigUint64(0, true));
  const header: unknown = JSON.parse(new TextDecoder().decode(file.subarray(8, start)));
  const { __metadata__: metadata, ...entries } = Header.parse(header);
  const arrays = Object.entries(entries).map(
    ([
      name,
      {
        dtype,
        data_offsets: [begin, end],
      },
    ]) => {
      const bytes = file.slice(start + begin, start + end);
      return [name, new ARRAYS[dtype](bytes.buffer)] as const;
    },
  );
  const { environmentDigest, best, ...numbers } = Numbers.parse(JSON.parse(metadata.training));
  const policy = arrays.find(([name]) => name === BEST_POLICY)?.[1];
  if ((best === null) !== (policy === undefined)) throw new RangeError("the best policy and its score do not agree");
  return {
    environmentDigest,
    state: { ...numbers, best: best && { ...best, policy: Float32Array.from(policy!) } },
    strategy: Object.fromEntries(
      arrays
        .filter(([name]) => name.startsWith(STRATEGY_PREFIX))
        .map(([name, array]) => [name.slice(STRATEGY_PREFIX.length), array]),
    ),
  };
}

function kindOf(array: StrategyState[string]): ArrayKind {
  if (array instanceof Float64Array) return "F64";
  return array instanceof Float32Array ? "F32" : "U32";
}
