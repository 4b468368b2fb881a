import type { SubmittedKernel } from "../../protocol/submitted-kernel.ts";
import type { Tone } from "../badge.tsx";

/** How far the check of a submitted kernel is. */
export const KERNEL_STATES: Record<SubmittedKernel["state"], readonly [Tone, string]> = {
  unchecked: ["busy", "not checked yet"],
  valid: ["good", "valid"],
  invalid: ["bad", "invalid"],
};
