/** Input or output shape of a student's layer for each row: pixels row by row, each with its channels. */
export interface Extent {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

/** Trained numbers, and the gradient of the loss by each since its last reset. */
export interface Parameter {
  readonly values: Float64Array;
  readonly gradients: Float64Array;
}

/** Layer of a student, which remembers its last input. */
export interface StudentLayer {
  readonly output: Extent;
  readonly parameters: readonly Parameter[];
  /** Answers for rows of input, one after the other. */
  forward(input: Float64Array, rows: number): Float64Array;
  /** Converts the gradient by its last answer into that by its last input; adds to its parameters' gradients. */
  backward(gradient: Float64Array): Float64Array;
}

/** Numbers of one row. */
export function sizeOf({ height, width, channels }: Extent): number {
  return height * width * channels;
}

/** Matrix of outputs × inputs and a bias, for rows of inputs. */
export class LinearStep {
  readonly matrix: Parameter;
  readonly bias: Parameter;
  readonly #inputs: number;
  readonly #outputs: number;
  #last: Float64Array = new Float64Array();

  /**
   * Weights are uniform within ±√(6 / inputs), which suits ReLU; biases are zero.
   * Source: He et al. 2015, arXiv:1502.01852.
   */
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
      // After a ReLU about half are zero.
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

/** Dense layer: all inputs of a row to each of its units. */
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

/** Positive inputs, and zero for the rest. */
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
