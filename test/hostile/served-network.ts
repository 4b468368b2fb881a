import { writeOnnxMlp } from "../../models/onnx-mlp-writer.ts";
import { encodeFrame } from "../../src/protocol/wire/frame.ts";
import { sfc32 } from "../../src/stats/random/seeded.ts";

/** Widths of layers, and the names of input and output. */
interface NetworkForm {
  readonly widths: readonly number[];
  readonly input: string;
  readonly output: string;
}

/** What computing takes some two milliseconds: long beside the way to the runner, and short beside a budget. */
export const SERVED: NetworkForm = { widths: [64, 1_408, 1_408, 8], input: "x", output: "y" };
export const SERVED_ROWS = 64;

/** A dense network; another seed is another file. */
export function writeNetwork({ widths, input, output }: NetworkForm, seed: number): Uint8Array<ArrayBuffer> {
  const layers = widths.slice(1).map((outputs, index) => {
    const inputs = widths[index]!;
    const weights = drawMany(inputs * outputs, 100 * seed + index).map((weight) => weight / Math.sqrt(inputs));
    return { inputs, outputs, weights, bias: new Float32Array(outputs) };
  });
  return writeOnnxMlp({ name: "network", input, output, layers });
}

/** A request for such a network as a frame, with its wishes. */
export function writeRequest(
  { widths, input }: NetworkForm,
  rows: number,
  wishes: { readonly model: string; readonly budgetMs: number } & Record<string, unknown>,
): Uint8Array<ArrayBuffer> {
  const width = widths[0]!;
  const bytes = new Uint8Array(drawMany(rows * width, 3).buffer);
  return encodeFrame(wishes, [{ name: input, dtype: "float32", shape: [rows, width], bytes }]);
}

function drawMany(count: number, seed: number): Float32Array<ArrayBuffer> {
  const draw = sfc32(seed);
  return Float32Array.from({ length: count }, () => draw(2 ** 24) * 2 ** -23 - 1);
}
