import { z } from "zod";
import { parseJson } from "./parse-json.ts";

/** Bytes of the header's length. */
const PREFIX_BYTES = 8;

const Size = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const Entry = z.strictObject({
  dtype: z.string(),
  shape: z.array(Size).max(8),
  data_offsets: z.tuple([Size, Size]),
});
/** A tensor as the header has it; its offsets count from the end of the header. */
export type SafetensorsEntry = z.infer<typeof Entry>;
const Header = z.looseObject({ __metadata__: z.record(z.string(), z.string()).optional() });

/** Header of a file. */
export type SafetensorsHeader =
  | {
      readonly state: "read";
      readonly metadata: ReadonlyMap<string, string>;
      readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
      /** Bytes before the first tensor. */
      readonly startBytes: number;
    }
  | { readonly state: "wrong"; readonly fault: "no-safetensors" | "too-long" | "no-tensors" }
  /** So many bytes of it have to be there before it can be read. */
  | { readonly state: "short"; readonly wantedBytes: number };

/**
 * Reads the header of a safetensors file (`huggingface/safetensors`), of so many bytes at most: eight bytes of length,
 * then JSON of tensors with their offsets.
 */
export function parseSafetensors(bytes: Uint8Array, maxHeaderBytes: number): SafetensorsHeader {
  if (bytes.length < PREFIX_BYTES) return { state: "short", wantedBytes: PREFIX_BYTES };
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes)) return { state: "wrong", fault: "too-long" };
  const startBytes = PREFIX_BYTES + Number(length);
  if (bytes.length < startBytes) return { state: "short", wantedBytes: startBytes };
  const header = Header.safeParse(parseJson(new TextDecoder().decode(bytes.subarray(PREFIX_BYTES, startBytes))));
  if (!header.success) return { state: "wrong", fault: "no-safetensors" };
  const { __metadata__: metadata = {}, ...tensors } = header.data;
  const entries = z.record(z.string(), Entry).safeParse(tensors);
  if (!entries.success) return { state: "wrong", fault: "no-tensors" };
  return {
    state: "read",
    metadata: new Map(Object.entries(metadata)),
    tensors: new Map(Object.entries(entries.data)),
    startBytes,
  };
}

/** Whether the tensors fill the file from the end of the header to the last byte, without gaps. */
export function isWhole(tensors: ReadonlyMap<string, SafetensorsEntry>): boolean {
  const spans = [...tensors.values()].map(({ data_offsets }) => data_offsets).toSorted(([a], [b]) => a - b);
  return spans.every(([from], index) => from === (spans[index - 1]?.[1] ?? 0));
}
