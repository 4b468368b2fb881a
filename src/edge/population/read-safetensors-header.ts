import { LIMITS } from "../../protocol/limits.ts";
import { isWhole, parseSafetensors, type SafetensorsEntry } from "../../protocol/parse-safetensors.ts";
import { type HeaderResult, type MemberTensor, wrongHeader } from "./population-layout.ts";

const FAULTS = {
  "too-long": `must be npy or safetensors with a header of at most ${LIMITS.populationHeaderBytes} bytes`,
  "no-safetensors": "must be npy or safetensors",
  "no-tensors": "has a header of safetensors that cannot be read",
} as const;

/**
 * Reads the header of a safetensors file, whose tensors must lie end to end over all that follows. One tensor of members × parameters, or for each layer
 * `layers.N.weight` [members, outputs, inputs] and `layers.N.bias` [members, outputs].
 */
export function readSafetensorsHeader(bytes: Uint8Array): HeaderResult {
  const header = parseSafetensors(bytes, LIMITS.populationHeaderBytes);
  if (header.state === "short") return header;
  return header.state === "wrong" ? wrongHeader(FAULTS[header.fault]) : readTensors(header.tensors, header.startBytes);
}

function readTensors(entries: ReadonlyMap<string, SafetensorsEntry>, start: number): HeaderResult {
  const sizeBytes = start + Math.max(0, ...[...entries.values()].map(({ data_offsets }) => data_offsets[1]));
  const misplaced = [...entries].find(([, entry]) => !isSound(entry))?.[0] ?? (isWhole(entries) ? null : "the tensors");
  if (misplaced !== null) return wrongHeader(`must hold float32 end to end: ${misplaced.slice(0, 64)}`);
  const [only] = entries.values();
  if (entries.size === 1 && only?.shape.length === 2) {
    const [members, parameters] = only.shape as [number, number];
    const tensors = [{ width: parameters, offsetBytes: start + only.data_offsets[0] }];
    return { state: "read", layout: { format: "safetensors", sizeBytes, members, parameters, tensors } };
  }
  return readLayers(entries, start, sizeBytes);
}

/** Layer by layer from 0, each fed by the one before. */
function readLayers(entries: ReadonlyMap<string, SafetensorsEntry>, start: number, sizeBytes: number): HeaderResult {
  const tensors: MemberTensor[] = [];
  let [members, width, parameters] = [0, 0, 0];
  for (let layer = 0; 2 * layer < entries.size; layer++) {
    const weight = entries.get(`layers.${layer}.weight`);
    const bias = entries.get(`layers.${layer}.bias`);
    const [count = 0, outputs = 0, inputs = 0] = weight?.shape ?? [];
    const fits =
      weight?.shape.length === 3 &&
      bias?.shape.join() === [count, outputs].join() &&
      (layer === 0 || (count === members && inputs === width));
    if (!fits) {
      return wrongHeader(
        `must have one tensor [members, parameters], or layers.${layer}.weight [members, outputs, inputs] and layers.${layer}.bias [members, outputs] that fit the layer before`,
      );
    }
    [members, width] = [count, outputs];
    parameters += outputs * (inputs + 1);
    tensors.push({ width: outputs * inputs, offsetBytes: start + weight.data_offsets[0] });
    tensors.push({ width: outputs, offsetBytes: start + bias.data_offsets[0] });
  }
  if (tensors.length === 0) return wrongHeader("must hold a tensor");
  return { state: "read", layout: { format: "safetensors", sizeBytes, members, parameters, tensors } };
}

function isSound({ dtype, shape, data_offsets: [from, to] }: SafetensorsEntry): boolean {
  return dtype === "F32" && to - from === 4 * shape.reduce((product, size) => product * size, 1);
}
