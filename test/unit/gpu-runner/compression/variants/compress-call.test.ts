import { describe, expect, it } from "vitest";
import { OrtBackend } from "../../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import { compress, type CompressRequest } from "../../../../../src/gpu-runner/compression/variants/compress-call.ts";
import { openByOrt } from "../../../../../src/gpu-runner/compression/variants/ask-network.ts";
import { readModel } from "../../../../../src/onnx/read-model.ts";
import { summariseModel } from "../../../../../src/onnx/summarise-model.ts";
import { writeModel } from "../../../../../src/onnx/write-model.ts";
import type { JobProgress } from "../../../../../src/protocol/jobs/job.ts";
import { ProblemError } from "../../../../../src/protocol/wire/problem.ts";
import { Recipe } from "../../../../../src/protocol/models/variant.ts";
import { indexOfLargest } from "../../../../../src/stats/score/task/task-tensor.ts";
import { classifier, CLASSES, dataOf, drawMany, INPUTS, inputSpecs } from "./small-networks.ts";

const ROWS = 200;
const open = openByOrt(new OrtBackend("cpu"));
const file = classifier();

/** The classes of the data's rows by a file. */
async function classesBy(network: Uint8Array): Promise<number[]> {
  const opened = await open(network);
  const bytes = new Uint8Array(drawMany(ROWS * INPUTS, 9).buffer);
  const [scores] = await opened.ask([{ name: "x", dtype: "float32", shape: [ROWS, INPUTS], bytes }]);
  await opened.close();
  const values = new Float32Array(scores!.bytes.slice().buffer);
  return Array.from({ length: ROWS }, (_, row) => indexOfLargest(values.subarray(row * CLASSES, (row + 1) * CLASSES)));
}

/** Every fifth label differs from the network's answer. */
const labels = (await classesBy(file)).map((found, row) => (row % 5 === 0 ? (found + 1) % CLASSES : found));
const shareRight = (classes: readonly number[]) => classes.filter((found, row) => found === labels[row]).length / ROWS;

async function make(recipe: object, changes: Partial<CompressRequest> = {}) {
  const told: JobProgress[] = [];
  const options = { signal: new AbortController().signal, onProgress: (each: JobProgress) => void told.push(each) };
  const request = { file, inputs: inputSpecs, recipe: Recipe.parse(recipe), data: dataOf(labels), ...changes };
  return { ...(await compress(request, open, options)), told };
}

const problemOf = async (made: Promise<unknown>) => {
  const error: unknown = await made.catch((thrown: unknown) => thrown);
  if (!(error instanceof ProblemError)) throw new Error("there is no problem", { cause: error });
  return error.problem;
};

describe("a compression", () => {
  it.each([
    { method: "fp16" },
    { method: "int8" },
    { method: "int4" },
    { method: "pruned", sparsity: 0.5 },
    { method: "pruned", channels: 0.25 },
    { method: "low-rank", rank: 3 },
    { method: "low-rank", energy: 0.6 },
  ])("by $method has the fidelity that its file shows on the data", async (recipe) => {
    const { file: made, fidelity, done, chosenEnergy, calibration } = await make(recipe);
    expect(done.length).toBeGreaterThan(0);
    expect([chosenEnergy, calibration]).toEqual([null, null]);
    if (fidelity.basis !== "metric") throw new Error("it was not measured on the data");
    const [parent, variant] = [shareRight(await classesBy(file)), shareRight(await classesBy(made))];
    expect(fidelity).toMatchObject({ metric: "accuracy", rows: ROWS, parent, variant });
    expect(fidelity.parent).toBe(0.8);
    expect(fidelity.value).toBeCloseTo(Math.min(1, variant / parent), 12);
    expect(fidelity.difference.value).toBeCloseTo(variant - parent, 12);
    expect(fidelity.difference.low).toBeLessThanOrEqual(fidelity.difference.value);
    expect(fidelity.difference.high).toBeGreaterThanOrEqual(fidelity.difference.value);
  });

  it("by channels leaves a network of fewer weights, by sparsity one of as many", async () => {
    const [whole, zeroed, narrowed] = [
      file,
      (await make({ method: "pruned", sparsity: 0.5 })).file,
      (await make({ method: "pruned", channels: 0.5 })).file,
    ].map((each) => summariseModel(readModel(each)));
    expect(zeroed).toMatchObject({ parameters: whole?.parameters, multiplyAddsPerRow: whole?.multiplyAddsPerRow });
    expect(narrowed!.parameters).toBeLessThan(0.8 * whole!.parameters);
    expect(narrowed!.multiplyAddsPerRow).toBeLessThan(0.8 * whole!.multiplyAddsPerRow!);
  });

  it("with static activations is measured on the rows that calibration did not see", async () => {
    const { fidelity, calibration, told } = await make({ method: "int8", activations: "static", calibrationRows: 50 });
    expect(calibration).toEqual({ rows: 50, distribution: "the version's data" });
    expect(fidelity).toMatchObject({ basis: "metric", rows: ROWS - 50 });
    expect(told.map(({ phase }) => phase)).toEqual(["parent", "compress", "measure"]);
  });

  it("by a student learns from half of the rows, and is measured on the others", async () => {
    const recipe = { method: "distilled", student: [{ kind: "dense", units: 16 }], epochs: 40, learningRate: 0.01 };
    const { fidelity, calibration, done, told } = await make(recipe);
    expect(calibration).toEqual({ rows: ROWS / 2, distribution: "the version's data" });
    expect(fidelity).toMatchObject({ basis: "metric", rows: ROWS / 2 });
    expect(told.filter(({ phase }) => phase === "epochs")).toHaveLength(40);
    expect(done).toMatchObject([{ operator: "network", what: expect.stringContaining("40 epochs") }]);
    const untaught = await make({ ...recipe, epochs: 1, learningRate: 1e-9 });
    expect(fidelity.value).toBeGreaterThan(untaught.fidelity.value);
  });

  it("by a student without data learns from seeded inputs", async () => {
    const recipe = { method: "distilled", student: [{ kind: "dense", units: 16 }], lessonRows: 64, epochs: 2 };
    const { fidelity, calibration } = await make(recipe, { data: null });
    expect(calibration).toMatchObject({ rows: 64, distribution: expect.stringContaining("seeds 1 to 64") });
    expect(fidelity.basis).toBe("agreement");
  });

  it("leaves half of the rows to be measured on, however many calibration wants", async () => {
    const { fidelity, calibration } = await make({ method: "int8", activations: "static", calibrationRows: 4_000 });
    expect(calibration?.rows).toBe(ROWS / 2);
    expect(fidelity).toMatchObject({ rows: ROWS / 2 });
  });

  it("without data compares answers to seeded inputs, and says which", async () => {
    const recipe = { method: "int8", activations: "static", calibrationRows: 16 };
    const { fidelity, calibration } = await make(recipe, { data: null });
    expect(calibration).toEqual({ rows: 16, distribution: expect.stringContaining("seeds 1 to 16") });
    if (fidelity.basis !== "agreement") throw new Error("it was measured on data that are not there");
    expect(fidelity.distribution).toContain("uniform in [0, 1)");
    expect(fidelity.value).toBe(fidelity.sameTop);
    expect(fidelity.relativeError).toBeGreaterThan(0);
    expect(fidelity.relativeError).toBeLessThan(0.1);
  });

  it("distinguishes a worse file from a better one, with and without data", async () => {
    for (const data of [dataOf(labels), null]) {
      const [good, bad] = [
        await make({ method: "int8" }, { data }),
        await make({ method: "low-rank", rank: 1 }, { data }),
      ];
      expect(good.fidelity.value).toBeGreaterThan(0.9);
      expect(bad.fidelity.value).toBeLessThan(good.fidelity.value);
    }
  });

  it("to a fidelity keeps it, with less energy where less is wanted", async () => {
    const [loose, tight] = [0.4, 0.7];
    const made = await Promise.all([loose, tight].map((minFidelity) => make({ method: "low-rank", minFidelity })));
    for (const [index, minFidelity] of [loose, tight].entries()) {
      expect(made[index]!.fidelity.value).toBeGreaterThanOrEqual(minFidelity);
      expect(made[index]!.done.length).toBeGreaterThan(0);
    }
    expect(made[0]!.chosenEnergy).toBeLessThan(made[1]!.chosenEnergy!);
    expect(made[0]!.file.byteLength).toBeLessThanOrEqual(made[1]!.file.byteLength);
  });

  it("fails where no rank that saves anything is good enough, or nothing can be done at all", async () => {
    const never = await problemOf(make({ method: "low-rank", minFidelity: 0.999_999 }, { data: null }));
    expect(never).toMatchObject({ code: "invalid-model" });
    expect(never.detail).toContain("0.999999");
    const nothing = await problemOf(make({ method: "low-rank", rank: 4_000 }));
    expect(nothing).toMatchObject({ code: "invalid-model" });
    expect(nothing.detail).toContain("would take more weights");
  });

  it("fails where the data do not fit the network's answers, and where the file cannot be read whole", async () => {
    const other = await problemOf(make({ method: "fp16" }, { data: dataOf(labels, "mae") }));
    expect(other.detail).toContain("The data do not fit");
    const model = readModel(file);
    const [first] = model.nodes;
    const strange = writeModel({ ...model, nodes: [{ ...first!, operator: "NoSuchThing" }, ...model.nodes.slice(1)] });
    expect(await problemOf(make({ method: "fp16" }, { file: strange }))).toMatchObject({ code: "invalid-model" });
  });

  it("names the layer of a student that does not fit", async () => {
    const student = [{ kind: "conv", filters: 2, kernel: 3 }];
    const { code, errors } = await problemOf(make({ method: "distilled", student }));
    expect([code, errors?.map(({ pointer }) => pointer)]).toEqual(["invalid-request", ["#/recipe/student/0"]]);
  });

  it("ends where it is aborted", async () => {
    const options = { signal: AbortSignal.abort(new Error("enough")), onProgress: () => {} };
    const request = { file, inputs: inputSpecs, recipe: Recipe.parse({ method: "fp16" }), data: null };
    await expect(compress(request, open, options)).rejects.toThrow("enough");
  });
});
