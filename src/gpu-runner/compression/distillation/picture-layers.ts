import { type Extent, LinearStep, sizeOf, type StudentLayer } from "./student-layer.ts";

/** Convolution with square kernels, or row kernels for signals, padded so that a stride of 1 keeps the size. */
export class ConvLayer implements StudentLayer {
  readonly input: Extent;
  readonly output: Extent;
  readonly parameters;
  /** Size of the kernel, and leading padding, along height and width. */
  readonly kernel: readonly [number, number];
  readonly padding: readonly [number, number];
  readonly stride: number;
  readonly #step: LinearStep;
  /** Index in the row of each number of its patches; −1 for padding. */
  readonly #sources: Int32Array;

  constructor(input: Extent, filters: number, kernel: number, stride: number, draw: () => number) {
    this.input = input;
    this.stride = stride;
    this.kernel = [input.height === 1 ? 1 : kernel, kernel];
    this.padding = [Math.floor((this.kernel[0] - 1) / 2), Math.floor((kernel - 1) / 2)];
    const [height, width] = [Math.ceil(input.height / stride), Math.ceil(input.width / stride)];
    this.output = { height, width, channels: filters };
    this.#step = new LinearStep(this.kernel[0] * kernel * input.channels, filters, draw);
    this.parameters = [this.#step.matrix, this.#step.bias] as const;
    this.#sources = Int32Array.from(this.#eachSource());
  }

  forward(input: Float64Array, rows: number): Float64Array {
    const [size, patches] = [sizeOf(this.input), this.#sources.length];
    const gathered = new Float64Array(rows * patches);
    const sources = this.#sources;
    for (let row = 0; row < rows; row++) {
      for (let at = 0; at < patches; at++) {
        const source = sources[at]!;
        if (source >= 0) gathered[row * patches + at] = input[row * size + source]!;
      }
    }
    return this.#step.forward(gathered);
  }

  backward(gradient: Float64Array): Float64Array {
    const [size, patches] = [sizeOf(this.input), this.#sources.length];
    const scattered = this.#step.backward(gradient);
    const rows = scattered.length / patches;
    const back = new Float64Array(rows * size);
    const sources = this.#sources;
    for (let row = 0; row < rows; row++) {
      for (let at = 0; at < patches; at++) {
        const source = sources[at]!;
        if (source >= 0) back[row * size + source]! += scattered[row * patches + at]!;
      }
    }
    return back;
  }

  *#eachSource(): Generator<number> {
    const { height, width, channels } = this.input;
    for (let place = 0; place < this.output.height * this.output.width; place++) {
      const top = Math.floor(place / this.output.width) * this.stride - this.padding[0];
      const left = (place % this.output.width) * this.stride - this.padding[1];
      for (let tap = 0; tap < this.kernel[0] * this.kernel[1]; tap++) {
        const [y, x] = [top + Math.floor(tap / this.kernel[1]), left + (tap % this.kernel[1])];
        const inside = y >= 0 && y < height && x >= 0 && x < width;
        for (let channel = 0; channel < channels; channel++) yield inside ? (y * width + x) * channels + channel : -1;
      }
    }
  }
}

/** Max pooling over squares of `size`, or over pieces of signals; incomplete ones at the ends are dropped. */
export class PoolLayer implements StudentLayer {
  readonly input: Extent;
  readonly output: Extent;
  readonly parameters = [];
  readonly size: readonly [number, number];
  /** Index in the last input of each number of the last answer. */
  #sources = new Int32Array();
  #inputs = 0;

  constructor(input: Extent, size: number) {
    this.input = input;
    this.size = [input.height === 1 ? 1 : size, size];
    const [height, width] = [Math.floor(input.height / this.size[0]), Math.floor(input.width / size)];
    this.output = { height, width, channels: input.channels };
  }

  forward(input: Float64Array, rows: number): Float64Array {
    const { height, width, channels } = this.output;
    const answer = new Float64Array(rows * sizeOf(this.output));
    this.#sources = new Int32Array(answer.length);
    this.#inputs = input.length;
    for (let at = 0; at < answer.length; at++) {
      const [channel, pixel] = [at % channels, Math.floor(at / channels)];
      const [x, line] = [pixel % width, Math.floor(pixel / width)];
      const [y, row] = [line % height, Math.floor(line / height)];
      const source = this.#largest(input, row, y * this.size[0], x * this.size[1], channel);
      this.#sources[at] = source;
      answer[at] = input[source]!;
    }
    return answer;
  }

  backward(gradient: Float64Array): Float64Array {
    const back = new Float64Array(this.#inputs);
    for (const [at, slope] of gradient.entries()) back[this.#sources[at]!]! += slope;
    return back;
  }

  #largest(input: Float64Array, row: number, top: number, left: number, channel: number): number {
    const { height, width, channels } = this.input;
    let best = -1;
    for (let y = top; y < top + this.size[0]; y++) {
      for (let x = left; x < left + this.size[1]; x++) {
        const source = ((row * height + y) * width + x) * channels + channel;
        if (best < 0 || input[source]! > input[best]!) best = source;
      }
    }
    return best;
  }
}
