import type { TensorSpec } from "../../protocol/models/model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { JsonTensor } from "../../protocol/wire/tensor.ts";
import type { Picture } from "./decode-png.ts";
import type { Sound } from "./decode-wav.ts";

/** A file as an input of a model, and what was done to it. */
interface FittedInput {
  readonly tensor: JsonTensor;
  readonly note: string;
}

/** Positions of rows, columns and colours in an input. */
interface Layout {
  readonly height: number;
  readonly width: number;
  readonly colours: 1 | 3;
  /** Colours outermost, as ONNX has them as a rule, or with each pixel. */
  readonly planar: boolean;
}

/**
 * A picture as an input of a model: resized by the mean of the area under each pixel, grey by BT.601's luma where one
 * channel is wanted, laid over white where it is transparent; 0 to 1 in floats, 0 to 255 in integers.
 */
export function fitPicture(picture: Picture, spec: TensorSpec): FittedInput {
  const layout = layoutOf(spec);
  const scale = spec.dtype.startsWith("float") ? 1 / 255 : 1;
  const { height, width, colours, planar } = layout;
  const data = Array.from({ length: height * width * colours }, () => 0);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const rgb = meanUnder(picture, layout, x, y);
      const values = colours === 3 ? rgb : [0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]];
      for (const [colour, value] of values.entries()) {
        const at = planar ? (colour * height + y) * width + x : (y * width + x) * colours + colour;
        data[at] = scale === 1 ? Math.round(value) : value * scale;
      }
    }
  }
  const note = `${picture.width}×${picture.height} pixels as ${width}×${height} ${colours === 3 ? "RGB" : "grey"}`;
  return { tensor: { dtype: spec.dtype, shape: spec.shape.map((size) => (size === -1 ? 1 : size)), data }, note };
}

function layoutOf({ name, shape }: TensorSpec): Layout {
  const [, ...sizes] = shape;
  const [a = 0, b = 0, c = 0] = sizes;
  if (sizes.length === 2 && a > 0 && b > 0) return { height: a, width: b, colours: 1, planar: true };
  if (sizes.length === 3 && (a === 1 || a === 3) && b > 0 && c > 0)
    return { height: b, width: c, colours: a, planar: true };
  if (sizes.length === 3 && (c === 1 || c === 3) && a > 0 && b > 0)
    return { height: a, width: b, colours: c, planar: false };
  throw new ProblemError(
    "invalid-request",
    `The input ${name} of [${shape.join(", ")}] takes no picture of 1 or 3 channels.`,
  );
}

/** Red, green and blue of the area of the picture that is under one pixel of the input. */
function meanUnder(
  { width, height, channels, pixels }: Picture,
  layout: Layout,
  x: number,
  y: number,
): [number, number, number] {
  const [left, right] = [(x * width) / layout.width, ((x + 1) * width) / layout.width];
  const [top, bottom] = [(y * height) / layout.height, ((y + 1) * height) / layout.height];
  const sum: [number, number, number] = [0, 0, 0];
  let area = 0;
  for (let row = Math.floor(top); row < Math.min(height, Math.ceil(bottom)); row++) {
    for (let column = Math.floor(left); column < Math.min(width, Math.ceil(right)); column++) {
      const part =
        (Math.min(bottom, row + 1) - Math.max(top, row)) * (Math.min(right, column + 1) - Math.max(left, column));
      const at = (row * width + column) * channels;
      const alpha = channels % 2 === 0 ? (pixels[at + channels - 1] ?? 0) / 255 : 1;
      for (const colour of [0, 1, 2] as const) {
        const value = pixels[at + (channels > 2 ? colour : 0)] ?? 0;
        sum[colour] += part * (alpha * value + (1 - alpha) * 255);
      }
      area += part;
    }
  }
  return [sum[0] / area, sum[1] / area, sum[2] / area];
}

/**
 * A sound as an input of samples: resampled linearly where another rate is wanted, which does not keep what is above
 * half of that rate out of it; then cut at the end, or filled up with silence.
 */
export function fitSound({ rateHz, samples }: Sound, spec: TensorSpec, wantedHz = rateHz): FittedInput {
  const length = lengthOf(spec) ?? Math.max(1, Math.floor((samples.length * wantedHz) / rateHz));
  const step = rateHz / wantedHz;
  const data = Array.from({ length }, (_, index) => {
    const at = Math.floor(index * step);
    const weight = index * step - at;
    // At the original rate a sample is itself; there is none behind the last one.
    return (1 - weight) * (samples[at] ?? 0) + weight * (samples[at + 1] ?? 0);
  });
  const shape = spec.shape.map((_, place) => (place === spec.shape.length - 1 ? length : 1));
  const rate = wantedHz === rateHz ? `${rateHz} Hz` : `${rateHz} Hz as ${wantedHz} Hz, linearly`;
  const heardMs = (1e3 * Math.min(length, samples.length / step)) / wantedHz;
  return {
    tensor: { dtype: spec.dtype, shape, data },
    note: `${samples.length} samples at ${rate}: the first ${heardMs.toFixed(0)} ms as ${length} values`,
  };
}

/** Number of samples of the input; null if it accepts any number. */
function lengthOf({ name, dtype, shape }: TensorSpec): number | null {
  const length = shape.at(-1) ?? 0;
  const isSamples = shape.length >= 2 && shape.slice(1, -1).every((size) => size === 1);
  if (isSamples && dtype.startsWith("float")) return length === -1 ? null : length;
  throw new ProblemError(
    "invalid-request",
    `The input ${name} of ${dtype} [${shape.join(", ")}] takes no samples: make what it wants, and give it as JSON.`,
  );
}
