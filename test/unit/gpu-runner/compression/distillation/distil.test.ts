import { describe, expect, it } from "vitest";
import { distil, type DistilOptions } from "../../../../../src/gpu-runner/compression/distillation/distil.ts";
import { distillationLoss } from "../../../../../src/gpu-runner/compression/distillation/distillation-loss.ts";
import {
  buildStudent,
  type RecipeLayer,
  runStudent,
  writeStudent,
} from "../../../../../src/gpu-runner/compression/distillation/student.ts";
import type { OnnxModel, OnnxValue } from "../../../../../src/onnx/onnx-model.ts";
import { makeNode } from "../../../../../src/gpu-runner/compression/edit-graph.ts";
import { floatTensor, integerTensor } from "../../../../../src/onnx/tensor-values.ts";
import { answerNetwork } from "../answer-network.ts";
import { drawValues, oddNetwork, recurrentNetwork } from "../small-networks.ts";

const CLASSES = 3;
const IMAGES: { extent: { height: number; width: number; channels: number }; recipe: RecipeLayer[]; shape: number[] } =
  {
    extent: { height: 7, width: 6, channels: 2 },
    shape: [2, 7, 6],
    recipe: [
      { kind: "conv", filters: 4, kernel: 3, stride: 1 },
      { kind: "pool", size: 2 },
      { kind: "conv", filters: 3, kernel: 4, stride: 2 },
      { kind: "dense", units: 5 },
    ],
  };
const SIGNALS = {
  extent: { height: 1, width: 13, channels: 2 },
  shape: [2, 13],
  recipe: [
    { kind: "conv", filters: 4, kernel: 5, stride: 2 },
    { kind: "pool", size: 3 },
  ] satisfies RecipeLayer[],
};
const FEATURES = {
  extent: { height: 1, width: 1, channels: 6 },
  shape: [6],
  recipe: [{ kind: "dense", units: 4 }] satisfies RecipeLayer[],
};
const KINDS = [
  ["images", IMAGES],
  ["signals", SIGNALS],
  ["features", FEATURES],
] as const;

function value(name: string, shape: readonly number[]): OnnxValue {
  return { name, dtype: "float32", shape: ["rows", ...shape] };
}

describe.for(KINDS)("a student of %s", ([, { extent, recipe, shape }]) => {
  const size = shape.reduce((product, each) => product * each, 1);
  const rows = 3;

  it("has the gradients that differences show", () => {
    const layers = buildStudent(extent, recipe, CLASSES, 4);
    const [inputs, teacher] = [Float64Array.from(drawValues(rows * size, 1)), drawValues(rows * CLASSES, 2)];
    const lossNow = () =>
      distillationLoss(runStudent(layers, inputs, rows), teacher, [0, 2, 1], CLASSES, { temperature: 3, alpha: 0.7 });
    layers.reduceRight((slope: Float64Array, layer) => layer.backward(slope), lossNow().gradient);
    const step = 1e-6;
    for (const { values, gradients } of layers.flatMap(({ parameters }) => [...parameters])) {
      expect(gradients.some((slope) => slope !== 0)).toBe(true);
      for (const at of values.keys()) {
        const kept = values[at]!;
        values[at] = kept + step;
        const above = lossNow().loss;
        values[at] = kept - step;
        const below = lossNow().loss;
        values[at] = kept;
        expect(gradients[at]).toBeCloseTo((above - below) / (2 * step), 7);
      }
    }
  });

  it("answers in ONNX Runtime what it answered while it learned", async () => {
    const layers = buildStudent(extent, recipe, CLASSES, 4);
    const model = writeStudent(layers, shape.length - 1, value("x", shape), value("y", [CLASSES]));
    // [row, channel, pixel] there, [row, pixel, channel] here.
    const given = drawValues(rows * size, 1);
    const pixels = size / extent.channels;
    const turned = Float64Array.from(given, (_, place) => {
      const [row, within] = [Math.floor(place / size), place % size];
      const [pixel, channel] = [Math.floor(within / extent.channels), within % extent.channels];
      return given[row * size + channel * pixels + pixel]!;
    });
    const answer = await answerNetwork(model, new Map([["x", { dims: [rows, ...shape], data: [...given] }]]));
    const trained = runStudent(layers, turned, rows);
    expect(answer.get("y")!.dims).toEqual([rows, CLASSES]);
    for (const [at, each] of answer.get("y")!.data.entries()) expect(each).toBeCloseTo(trained[at]!, 5);
  });
});

describe("distil", () => {
  const options: DistilOptions = {
    recipe: [{ kind: "dense", units: 12 }],
    epochs: 30,
    batchRows: 32,
    learningRate: 0.01,
    seed: 5,
    temperature: 2,
    alpha: 1,
  };

  async function lessonsOf(model: OnnxModel, rows: number, seed: number) {
    const inputs = drawValues(rows * 7, seed);
    const answer = await answerNetwork(model, new Map([["x", { dims: [rows, 7], data: [...inputs] }]]));
    return {
      inputs,
      logits: Float32Array.from(answer.get(model.outputs[0]!.name)!.data),
      areClasses: true,
      labels: null,
    };
  }

  function classesOf(logits: ArrayLike<number>): number[] {
    return Array.from({ length: logits.length / 5 }, (_, row) => {
      const own = Array.from({ length: 5 }, (_each, at) => logits[row * 5 + at]!);
      return own.indexOf(Math.max(...own));
    });
  }

  it("teaches what the teacher answers on rows that the student never saw", async () => {
    const teacher = oddNetwork();
    const { model, losses } = await distil(teacher, await lessonsOf(teacher, 512, 1), options);
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 10);
    expect([model.inputs, model.outputs]).toEqual([teacher.inputs, teacher.outputs]);
    const unseen = await lessonsOf(teacher, 200, 2);
    const learned = await answerNetwork(model, new Map([["x", { dims: [200, 7], data: [...unseen.inputs] }]]));
    const [own, theirs] = [classesOf(learned.get(model.outputs[0]!.name)!.data), classesOf(unseen.logits)];
    const agreed = own.filter((each, row) => each === theirs[row]).length / 200;
    expect(agreed).toBeGreaterThan(0.9);
    const untaught = (await distil(teacher, await lessonsOf(teacher, 512, 1), { ...options, epochs: 0 })).model;
    const guessed = await answerNetwork(untaught, new Map([["x", { dims: [200, 7], data: [...unseen.inputs] }]]));
    const luck = classesOf(guessed.get(model.outputs[0]!.name)!.data).filter(
      (each, row) => each === theirs[row],
    ).length;
    expect(luck / 200).toBeLessThan(0.6);
  });

  it("teaches numbers of any size, in the teacher's shape", async () => {
    const given = oddNetwork();
    // One output hundreds of times as large as the others, far from zero, and in two axes.
    const [name, scale] = [given.outputs[0]!.name, Float32Array.of(1, 1, 1, 400, 1)];
    const constants = [
      floatTensor("scale", [5], scale),
      floatTensor("shift", [5], Float32Array.of(0, 0, 0, 9_000, 0)),
      integerTensor("wide", [0, 5, 1]),
    ];
    const renamed = given.nodes.map((node) => ({
      ...node,
      inputs: node.inputs.map((each) => (each === name ? "narrow" : each)),
      outputs: node.outputs.map((each) => (each === name ? "narrow" : each)),
    }));
    const teacher: OnnxModel = {
      ...given,
      weights: new Map([...given.weights, ...constants.map((tensor) => [tensor.name, tensor] as const)]),
      nodes: [
        ...renamed,
        makeNode("Mul", ["narrow", "scale"], "scaled"),
        makeNode("Add", ["scaled", "shift"], "shifted"),
        makeNode("Reshape", ["shifted", "wide"], name),
      ],
      outputs: [{ ...given.outputs[0]!, shape: ["rows", 5, 1] }],
    };
    const lessons = { ...(await lessonsOf(teacher, 512, 1)), areClasses: false };
    const { model } = await distil(teacher, lessons, options);
    expect(model.outputs).toEqual(teacher.outputs);
    const unseen = await lessonsOf(teacher, 200, 2);
    const learned = await answerNetwork(model, new Map([["x", { dims: [200, 7], data: [...unseen.inputs] }]]));
    const answer = learned.get(name)!;
    expect(answer.dims).toEqual([200, 5, 1]);
    for (let output = 0; output < 5; output++) {
      const wanted = Array.from({ length: 200 }, (_, row) => unseen.logits[row * 5 + output]!);
      const mean = wanted.reduce((sum, each) => sum + each, 0) / 200;
      const variance = wanted.reduce((sum, each) => sum + (each - mean) ** 2, 0);
      const missed = wanted.reduce((sum, each, row) => sum + (each - answer.data[row * 5 + output]!) ** 2, 0);
      // One output of the teacher is constant.
      expect(missed).toBeLessThan(0.2 * variance + 0.05);
    }
  });

  it("gives the same student again, and reports each epoch", async () => {
    const lessons = await lessonsOf(oddNetwork(), 50, 1);
    const told: [number, number][] = [];
    const short = { ...options, epochs: 3 };
    const first = await distil(oddNetwork(), lessons, short, (epoch, loss) => void told.push([epoch, loss]));
    expect(await distil(oddNetwork(), lessons, short)).toEqual(first);
    expect(told).toEqual(first.losses.map((loss, epoch) => [epoch, loss]));
    expect(await distil(oddNetwork(), lessons, { ...short, seed: 6 })).not.toEqual(first);
  });

  it("ends where its listener wants it to", async () => {
    const lessons = await lessonsOf(oddNetwork(), 50, 1);
    const stop = () => Promise.reject(new Error("enough"));
    await expect(distil(oddNetwork(), lessons, options, stop)).rejects.toThrow("enough");
  });

  it.for([
    ["convolutions of features", [{ kind: "conv", filters: 1, kernel: 3, stride: 1 }], "#/recipe/0"],
    [
      "pools behind features",
      [
        { kind: "dense", units: 3 },
        { kind: "pool", size: 2 },
      ],
      "#/recipe/1",
    ],
  ] as const)("refuses %s", async ([, recipe, pointer]) => {
    const lessons = await lessonsOf(oddNetwork(), 2, 1);
    await expect(distil(oddNetwork(), lessons, { ...options, recipe })).rejects.toMatchObject({
      problem: { code: "invalid-request", errors: [{ pointer }] },
    });
  });

  it("refuses pools that are larger than what they pool, and a dense layer before others", async () => {
    const wide = { ...oddNetwork(), inputs: [value("x", [1, 7])] };
    const lessons = { inputs: drawValues(14, 1), logits: drawValues(10, 2), areClasses: true, labels: null };
    const refused = (recipe: RecipeLayer[]) =>
      expect(distil(wide, lessons, { ...options, recipe })).rejects.toMatchObject({
        problem: { code: "invalid-request" },
      });
    await refused([{ kind: "pool", size: 8 }]);
    await refused([
      { kind: "dense", units: 3 },
      { kind: "pool", size: 1 },
    ]);
  });

  it("refuses a teacher whose rows are not its input's first axis alone", async () => {
    const teacher = { ...recurrentNetwork(), outputs: [value("y", [2, 2])] };
    const lessons = { inputs: new Float32Array(), logits: new Float32Array(), areClasses: true, labels: null };
    await expect(distil(teacher, lessons, options)).rejects.toMatchObject({ problem: { code: "invalid-model" } });
  });
});
