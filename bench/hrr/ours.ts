import { hrrBind } from "../../kernels/hrr-bind/hrr-bind.kernel.ts";
import { prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { KernelCall } from "../../src/gpu-runner/gpu/kernel-call.ts";
import type { Contender } from "../contest.ts";
import { SEED } from "../kernel-at-shape.ts";
import { describeChoice, openOwnGpu, tuneChoice } from "../own-gpu.ts";
import { createBindEntry, createVectors, type HrrCase } from "./hrr-case.ts";

/** So many values of a are bound to choose by: what is hopeless on a device can take it minutes for all of a case. */
const TRIAL_VALUES = 2 ** 16;

/** The product's own kernel, tuned, through its own dispatch; vectors go up and results come back each time. */
export const contender: Contender<HrrCase> = async ({ dimension, pairs }) => {
  const own = await openOwnGpu();
  const trial = { dimension, pairs: Math.min(pairs, Math.ceil(TRIAL_VALUES / dimension)) };
  const shape = { dimension, pairs };
  const choice = { ...(await tuneChoice(own, hrrBind.name, trial)), shape };
  const prepared = await prepareKernel(own, choice, hrrBind.generate(shape, SEED));
  const call = new KernelCall(own, prepared, "c");
  const vectors = { ...createVectors(shape) };
  const run = async () => {
    prepared.upload(vectors);
    const output = (await call.run()) as Float32Array;
    own.gpu.throwUncaptured();
    return output;
  };
  return createBindEntry(run, shape, describeChoice(own, choice));
};
