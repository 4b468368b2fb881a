import { expect, test } from "vitest";
import type { KernelShape } from "../../../../kernels/kernel-spec.ts";
import { mlpPopulation } from "../../../../kernels/mlp-population/mlp-population.kernel.ts";
import type { MlpPopulationSize } from "../../../../kernels/mlp-population/mlp-population.reference.ts";
import { openPopulation } from "../../../../src/gpu-runner/devices/cpu-simd/open-population.ts";
import { checkOutput } from "../../../../src/gpu-runner/kernels/benchmark/check-output.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";

type Shape = KernelShape<MlpPopulationSize>;

const SEED = 1;
const [NONE, RELU, TANH] = [1, 2, 3];
/** Enough products that one thread does not do them alone. */
const MANY: Shape = { members: 1009, samples: 1, inputs: 8, hidden: 32, outputs: 4, layers: 3, activation: TANH };

function generate(shape: Shape, seed = SEED) {
  const arrays = mlpPopulation.generate(shape, seed);
  return { arrays, reference: mlpPopulation.reference(arrays, shape) };
}

async function compute(shape: Shape, runs = 1): Promise<Float32Array<ArrayBuffer>> {
  const population = await openPopulation(shape);
  try {
    population.upload(generate(shape).arrays);
    for (let run = 0; run < runs; run++) await population.run();
    return population.read();
  } finally {
    await population.release();
  }
}

test.each<Shape>([
  { members: 1, samples: 1, inputs: 1, hidden: 1, outputs: 1, layers: 1, activation: NONE },
  { members: 1, samples: 9, inputs: 4, hidden: 16, outputs: 2, layers: 2, activation: RELU },
  { members: 5, samples: 3, inputs: 7, hidden: 19, outputs: 3, layers: 3, activation: TANH },
  { members: 33, samples: 1, inputs: 65, hidden: 2, outputs: 66, layers: 2, activation: RELU },
  { members: 7, samples: 2, inputs: 3, hidden: 33, outputs: 5, layers: 3, activation: TANH },
  { members: 9, samples: 2, inputs: 3, hidden: 5, outputs: 4, layers: 8, activation: TANH },
  { members: 3, samples: 1, inputs: 512, hidden: 512, outputs: 512, layers: 2, activation: NONE },
  { members: 65_535, samples: 1, inputs: 2, hidden: 3, outputs: 1, layers: 2, activation: RELU },
  MANY,
])("agrees with the f64 reference: %j", async (shape) => {
  const output = await compute(shape);
  expect(output).toHaveLength(shape.members * shape.samples * shape.outputs);
  const { correct } = await checkOutput(
    output,
    generate(shape).reference,
    mlpPopulation.tolerance,
    shape,
    SEED,
    () => {},
  );
  expect(correct).toBe(true);
});

test("runs again and again, with the same bits for any division of the shares", async () => {
  const once = await compute(MANY);
  expect(await compute(MANY, 5)).toEqual(once);
});

test("takes other parameters and inputs between runs", async () => {
  const population = await openPopulation(MANY);
  try {
    population.upload(generate(MANY, 7).arrays);
    await population.run();
    const { arrays, reference } = generate(MANY);
    population.upload({ parameters: arrays["parameters"]! });
    population.upload({ input: arrays["input"]! });
    await population.run();
    const { correct } = await checkOutput(population.read(), reference, mlpPopulation.tolerance, MANY, SEED, () => {});
    expect(correct).toBe(true);
  } finally {
    await population.release();
  }
});

test("refuses what is larger than a gigabyte", async () => {
  const failure: unknown = await openPopulation({ ...MANY, members: 65_535, hidden: 512 }).catch(
    (error: unknown) => error,
  );
  expect((failure as ProblemError).problem).toMatchObject({
    code: "kernel-invalid",
    detail: expect.stringMatching(/^The population has \d+ bytes/),
  });
});
