import { LinearStep } from "./linear-step.ts";
import { type Extent, sizeOf, type StudentLayer } from "./student-layer.ts";

/** All inputs of a row to each of its units. */
export class DenseLayer implements StudentLayer {
  readonly input: Extent;
  readonly output: Extent;
  readonly parameters;
  readonly #step: LinearStep;

  constructor(input: Extent, units: number, draw: () => number) {
    this.input = input;
    this.output = { height: 1, width: 1, channels: units };
    this.#step = new LinearStep(sizeOf(input), units, draw);
    this.parameters = [this.#step.matrix, this.#step.bias] as const;
  }

  forward(input: Float64Array): Float64Array {
    return this.#step.forward(input);
  }

  backward(gradient: Float64Array): Float64Array {
    return this.#step.backward(gradient);
  }
}
