/** What may be in the way of a placement, and what more of an answer from there. */
export const ADMISSION_PROBLEMS = [
  "not-found",
  "budget-unattainable",
  "no-placement",
  "runner-offline",
  "overloaded",
  "runner-lost",
] as const;

/** The same, and what may go wrong behind it. */
export const INFERENCE_PROBLEMS = [
  ...ADMISSION_PROBLEMS,
  "budget-exceeded",
  "device-lost",
  "out-of-memory",
  "backend-failed",
  "model-quarantined",
] as const;
