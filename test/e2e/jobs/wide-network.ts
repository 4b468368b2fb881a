import { writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import { sfc32 } from "../../../src/stats/random/seeded.ts";

export const WIDE_INPUTS = 96;
export const WIDE_CLASSES = 10;
/** So wide that computing a batch takes several times as long as its way to the runner and back. */
const HIDDEN = 32_768;
/** Of the hidden units one in ten counts; the others are small, so that a variant without them answers some samples otherwise. */
const COUNTING = 10;
export const SPARE_CHANNELS = 1 - 1 / COUNTING;
const SMALL = 0.1;

/** A dense network most of whose hidden units can go. Drawn by a fixed seed. */
export function writeWideNetwork(): Uint8Array<ArrayBuffer> {
  const draw = uniform(7);
  const weights = drawMany(HIDDEN * WIDE_INPUTS, draw);
  for (let place = 0; place < weights.length; place++) {
    const unit = Math.floor(place / WIDE_INPUTS);
    weights[place]! *= (unit % COUNTING === 0 ? 1 : SMALL) / Math.sqrt(WIDE_INPUTS / 3);
  }
  const layers = [
    { inputs: WIDE_INPUTS, outputs: HIDDEN, weights, bias: new Float32Array(HIDDEN), activation: "tanh" },
    {
      inputs: HIDDEN,
      outputs: WIDE_CLASSES,
      weights: drawMany(HIDDEN * WIDE_CLASSES, draw),
      bias: new Float32Array(WIDE_CLASSES),
      activation: "none",
    },
  ] as const;
  return writeOnnxMlp({ name: "wide", input: "x", output: "scores", layers });
}

/** So many samples, each of `WIDE_INPUTS` numbers between −1 and 1. */
export function drawSamples(rows: number): Float32Array<ArrayBuffer> {
  return drawMany(rows * WIDE_INPUTS, uniform(11));
}

function uniform(seed: number): () => number {
  const draw = sfc32(seed);
  return () => draw(2 ** 24) * 2 ** -23 - 1;
}

function drawMany(count: number, draw: () => number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count }, draw);
}
