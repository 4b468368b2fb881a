import { activate, applyDense } from "./dense.reference.ts";
import { CONV, type PolicyLayer } from "./policy-layout.ts";

/** Planes of `side`×`side` numbers, one after the other. */
interface Planes {
  readonly numbers: Float64Array;
  readonly count: number;
  readonly side: number;
}

/** Outputs of a convolutional network for frames × 84 × 84 pixels, pixel by pixel: the reference of conv.wgsl. */
export function applyConv(
  layers: readonly PolicyLayer[],
  parameters: Float32Array,
  pixels: Float64Array,
): Float64Array {
  const [first, second, ...dense] = layers as [PolicyLayer, PolicyLayer, ...PolicyLayer[]];
  const frames = { numbers: pixels, count: CONV.frames, side: CONV.side };
  const planes = convolve(frames, first, parameters, { size: 8, stride: 4 });
  const maps = convolve(planes, second, parameters, { size: 4, stride: 2 });
  return applyDense(dense, parameters, maps.numbers);
}

/** Without padding. Weights are [output][input][row][column]. */
function convolve(
  { numbers, count, side }: Planes,
  { outputs, activation, weightsAt, biasAt }: PolicyLayer,
  parameters: Float32Array,
  { size, stride }: { readonly size: number; readonly stride: number },
): Planes {
  const outSide = (side - size) / stride + 1;
  const out = new Float64Array(outputs * outSide * outSide);
  for (let output = 0; output < outputs; output++) {
    for (let row = 0; row < outSide; row++) {
      for (let column = 0; column < outSide; column++) {
        let sum = parameters[biasAt + output]!;
        let weight = weightsAt + output * count * size * size;
        for (let input = 0; input < count; input++) {
          for (let y = 0; y < size; y++) {
            const from = (input * side + stride * row + y) * side + stride * column;
            for (let x = 0; x < size; x++) sum += parameters[weight++]! * numbers[from + x]!;
          }
        }
        out[(output * outSide + row) * outSide + column] = activate(sum, activation);
      }
    }
  }
  return { numbers: out, count: outputs, side: outSide };
}
