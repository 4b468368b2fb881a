import { type Extent, sizeOf, type StudentLayer } from "./student-layer.ts";

/** The largest of squares of `size`, or of pieces where the input is a row; what is left over at the ends is dropped. */
export class PoolLayer implements StudentLayer {
  readonly input: Extent;
  readonly output: Extent;
  readonly parameters = [];
  readonly size: readonly [number, number];
  /** Where in the last input each number of the last answer came from. */
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
