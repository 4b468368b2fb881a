/** Weight of the teacher against the labels, and the temperature of its answers. */
export interface DistillationWeights {
  /** T: divisor of the logits of both before the softmax. */
  readonly temperature: number;
  /** α: share of the teacher, 0 to 1; the rest is the labels'. */
  readonly alpha: number;
}

/**
 * L = α T² KL(p_teacher^T ‖ p_student^T) + (1 − α) CE(y, p_student), the mean over rows, and its gradient by the
 * student's logits. Logits are rows × classes; without labels α is 1.
 * Source: Hinton, Vinyals, Dean 2015, arXiv:1503.02531.
 */
export function distillationLoss(
  student: Float64Array,
  teacher: ArrayLike<number>,
  labels: ArrayLike<number> | null,
  classes: number,
  { temperature, alpha }: DistillationWeights,
): { loss: number; gradient: Float64Array } {
  const rows = student.length / classes;
  const taught = labels === null ? 1 : alpha;
  const gradient = new Float64Array(student.length);
  let loss = 0;
  for (let row = 0; row < rows; row++) {
    const at = row * classes;
    const soft = logSoftmax(student, at, classes, temperature);
    const wanted = logSoftmax(teacher, at, classes, temperature);
    const hard = logSoftmax(student, at, classes, 1);
    for (let each = 0; each < classes; each++) {
      const share = Math.exp(wanted[each]!);
      const isLabel = labels !== null && labels[row] === each ? 1 : 0;
      // A class of probability 0 for the teacher adds nothing.
      if (share > 0) loss += (taught * temperature ** 2 * share * (wanted[each]! - soft[each]!)) / rows;
      loss -= ((1 - taught) * isLabel * hard[each]!) / rows;
      const pull = taught * temperature * (Math.exp(soft[each]!) - share);
      gradient[at + each] = (pull + (1 - taught) * (Math.exp(hard[each]!) - isLabel)) / rows;
    }
  }
  return { loss, gradient };
}

/** Mean square of the differences of numbers, and its gradient by the student's. */
export function squaredLoss(
  student: Float64Array,
  teacher: ArrayLike<number>,
): { loss: number; gradient: Float64Array } {
  let loss = 0;
  const gradient = student.map((value, at) => {
    const difference = value - teacher[at]!;
    loss += difference ** 2 / student.length;
    return (2 * difference) / student.length;
  });
  return { loss, gradient };
}

/** Logarithms of a row's softmax, after subtraction of its largest logit. */
function logSoftmax(logits: ArrayLike<number>, from: number, classes: number, temperature: number): Float64Array {
  const scaled = Float64Array.from({ length: classes }, (_, each) => logits[from + each]! / temperature);
  const largest = scaled.reduce((one, other) => Math.max(one, other));
  const sum = scaled.reduce((total, value) => total + Math.exp(value - largest), 0);
  return scaled.map((value) => value - largest - Math.log(sum));
}
