/** What a layer of a student takes or gives for each row: pixels row by row, each with its channels. */
export interface Extent {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

/** Numbers that are learned, and the gradient of the loss by each since it was last set to zero. */
export interface Parameter {
  readonly values: Float64Array;
  readonly gradients: Float64Array;
}

/** One step of a student, which remembers its last input. */
export interface StudentLayer {
  readonly output: Extent;
  readonly parameters: readonly Parameter[];
  /** Answers for rows of input, one after the other. */
  forward(input: Float64Array, rows: number): Float64Array;
  /** Of the gradient by its last answer that by its last input; adds to those of its parameters. */
  backward(gradient: Float64Array): Float64Array;
}

/** Numbers of one row. */
export function sizeOf({ height, width, channels }: Extent): number {
  return height * width * channels;
}
