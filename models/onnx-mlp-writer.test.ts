import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { writeOnnxMlp } from "./onnx-mlp-writer.ts";
import type { DenseLayer, OnnxMlp } from "./onnx-mlp-writer.ts";
import { countOnnxParameters } from "./onnx-parameter-count.ts";

describe("writeOnnxMlp", () => {
  it("writes a file that the runtime reads as the same network, at any batch", async () => {
    const mlp = network([3, 5, 4, 2]);
    const session = await InferenceSession.create(writeOnnxMlp(mlp));
    for (const batch of [1, 7]) {
      const rows = Array.from({ length: batch }, (_, row) => [Math.sin(row), Math.cos(row), row / batch]);
      const { y } = await session.run({ x: new Tensor("float32", rows.flat(), [batch, 3]) });
      expect(y!.dims).toEqual([batch, 2]);
      rows
        .flatMap((row) => forward(mlp.layers, row))
        .forEach((expected, index) => expect((y!.data as Float32Array)[index]).toBeCloseTo(expected, 5));
    }
  });

  it("gives the same bytes for the same network, and other bytes for another", () => {
    expect(writeOnnxMlp(network([4, 16, 2]))).toEqual(writeOnnxMlp(network([4, 16, 2])));
    expect(writeOnnxMlp(network([4, 16, 2]))).not.toEqual(writeOnnxMlp(network([4, 16, 2], 2)));
  });

  it("holds as many parameters as it was given", () => {
    expect(countOnnxParameters(writeOnnxMlp(network([3, 5, 4, 2])))).toBe(3 * 5 + 5 + 5 * 4 + 4 + 4 * 2 + 2);
  });

  it("refuses layers that do not fit", () => {
    const [first, second] = network([3, 5, 2]).layers as [DenseLayer, DenseLayer];
    const write = (layers: DenseLayer[]) => () => writeOnnxMlp({ name: "n", input: "x", output: "y", layers });
    expect(write([])).toThrow(RangeError);
    expect(write([second, first])).toThrow(RangeError);
    expect(write([{ ...first, bias: new Float32Array(4) }])).toThrow(RangeError);
  });
});

/** A network with the given widths and fixed, lively weights. */
function network(widths: number[], phase = 1): OnnxMlp {
  const wave = (length: number) => Float32Array.from({ length }, (_, index) => Math.sin(phase + index * 1.7) / 2);
  const layers = widths.slice(1).map((outputs, index) => {
    const inputs = widths[index]!;
    return { inputs, outputs, weights: wave(inputs * outputs), bias: wave(outputs) };
  });
  return { name: "test", input: "x", output: "y", layers };
}

/** The definition, in f64. */
function forward(layers: readonly DenseLayer[], input: number[]): number[] {
  return layers.reduce((values, { inputs, weights, bias }, index) => {
    const sums = Array.from(bias, (start, unit) =>
      values.reduce((sum, value, i) => sum + value * weights[unit * inputs + i]!, start),
    );
    return index < layers.length - 1 ? sums.map(Math.tanh) : sums;
  }, input);
}
