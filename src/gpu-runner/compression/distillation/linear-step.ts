import type { Parameter } from "./student-layer.ts";

/** Matrix of outputs × inputs and a bias, for rows of inputs. */
export class LinearStep {
  readonly matrix: Parameter;
  readonly bias: Parameter;
  readonly #inputs: number;
  readonly #outputs: number;
  #last: Float64Array = new Float64Array();

  /** Weights are drawn evenly within ±√(6 / inputs), as suits ReLU (He et al. 2015, arXiv:1502.01852); biases are zero. */
  constructor(inputs: number, outputs: number, draw: () => number) {
    [this.#inputs, this.#outputs] = [inputs, outputs];
    const bound = Math.sqrt(6 / inputs);
    const values = new Float64Array(inputs * outputs).map(() => (2 * draw() - 1) * bound);
    this.matrix = { values, gradients: new Float64Array(values.length) };
    this.bias = { values: new Float64Array(outputs), gradients: new Float64Array(outputs) };
  }

  forward(input: Float64Array): Float64Array {
    const [inputs, outputs] = [this.#inputs, this.#outputs];
    const [matrix, bias] = [this.matrix.values, this.bias.values];
    this.#last = input;
    const rows = input.length / inputs;
    const answer = new Float64Array(rows * outputs);
    for (let row = 0; row < rows; row++) {
      const from = row * inputs;
      for (let output = 0; output < outputs; output++) {
        const weight = output * inputs;
        let sum = bias[output]!;
        for (let each = 0; each < inputs; each++) sum += input[from + each]! * matrix[weight + each]!;
        answer[row * outputs + output] = sum;
      }
    }
    return answer;
  }

  backward(gradient: Float64Array): Float64Array {
    const [inputs, outputs, input] = [this.#inputs, this.#outputs, this.#last];
    const [matrix, gradients, biasGradients] = [this.matrix.values, this.matrix.gradients, this.bias.gradients];
    const back = new Float64Array(input.length);
    for (let at = 0; at < gradient.length; at++) {
      const slope = gradient[at]!;
      // Behind a ReLU about half are zero.
      if (slope === 0) continue;
      const output = at % outputs;
      const [from, weight] = [((at - output) / outputs) * inputs, output * inputs];
      biasGradients[output]! += slope;
      for (let each = 0; each < inputs; each++) {
        gradients[weight + each]! += slope * input[from + each]!;
        back[from + each]! += slope * matrix[weight + each]!;
      }
    }
    return back;
  }
}
