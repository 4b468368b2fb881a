import type { Extent, StudentLayer } from "./student-layer.ts";

/** What is positive, and zero for the rest. */
export class ReluLayer implements StudentLayer {
  readonly output: Extent;
  readonly parameters = [];
  #last: Float64Array = new Float64Array();

  constructor(input: Extent) {
    this.output = input;
  }

  forward(input: Float64Array): Float64Array {
    this.#last = input;
    return input.map((value) => Math.max(0, value));
  }

  backward(gradient: Float64Array): Float64Array {
    return gradient.map((slope, at) => (this.#last[at]! > 0 ? slope : 0));
  }
}
