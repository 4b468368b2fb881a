/** What is wrong with a machine or its way to an edge, in the words of the runner's log and of `millrace doctor`. */
export interface Fault {
  /** Its name for programs, such as `proxy-login`. */
  readonly cause: string;
  /** What is wrong and where: host and port, file, or setting. No full stop. */
  readonly found: string;
  /** What to do, as sentences. */
  readonly advice: string;
  /** It works all the same, but worse than it could. */
  readonly isMild?: true;
}

export function sentenceOf({ found, advice }: Fault): string {
  return `${found}. ${advice}`;
}

/** Error that ends a program because of a fault, which is its `cause`. */
export function errorOf(fault: Fault): Error {
  return new Error(sentenceOf(fault), { cause: fault });
}
