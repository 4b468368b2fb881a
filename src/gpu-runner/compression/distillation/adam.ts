import type { Parameter } from "./student-layer.ts";

const [MOMENTUM, SPREAD, EPSILON] = [0.9, 0.999, 1e-8];

/** Moves parameters against their gradients, and sets these to zero (Adam: Kingma, Ba 2015, arXiv:1412.6980). */
export class Adam {
  readonly #moving: readonly { parameter: Parameter; mean: Float64Array; square: Float64Array }[];
  readonly #rate: number;
  #steps = 0;

  constructor(parameters: readonly Parameter[], rate: number) {
    this.#rate = rate;
    this.#moving = parameters.map((parameter) => ({
      parameter,
      mean: new Float64Array(parameter.values.length),
      square: new Float64Array(parameter.values.length),
    }));
  }

  step(): void {
    this.#steps++;
    const [less, lessSquare] = [1 - MOMENTUM ** this.#steps, 1 - SPREAD ** this.#steps];
    for (const { parameter, mean, square } of this.#moving) {
      const { values, gradients } = parameter;
      for (let at = 0; at < values.length; at++) {
        const slope = gradients[at]!;
        const [average, spread] = [
          MOMENTUM * mean[at]! + (1 - MOMENTUM) * slope,
          SPREAD * square[at]! + (1 - SPREAD) * slope * slope,
        ];
        [mean[at], square[at]] = [average, spread];
        values[at]! -= (this.#rate * average) / less / (Math.sqrt(spread / lessSquare) + EPSILON);
      }
      gradients.fill(0);
    }
  }
}
