import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { InferenceSession } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { readModelCard, readZooCard } from "./model-card.ts";
import { countOnnxParameters } from "./onnx-parameter-count.ts";

describe.each([
  ["lenet5", readZooCard],
  ["cartpole", readModelCard],
] as const)("the card of %s", (name, readCard) => {
  const folder = new URL(`${name}/`, import.meta.url);
  const card = readCard(folder);
  const file = readFileSync(new URL(card.file.name, folder));

  it("is of the file beside it", () => {
    expect(file.length).toBe(card.file.sizeBytes);
    expect(createHash("sha256").update(file).digest("hex")).toBe(card.file.sha256);
    expect(countOnnxParameters(file)).toBe(card.parameters);
  });

  it("names the file's inputs and outputs as the runtime sees them", async () => {
    const session = await InferenceSession.create(file);
    expect(describeTensors(session.inputMetadata)).toEqual(card.inputs.map(withoutMeaning));
    expect(describeTensors(session.outputMetadata)).toEqual(card.outputs.map(withoutMeaning));
  });

  it("claims more than its trivial baseline, beyond both intervals", () => {
    const { interval, baseline } = card.evaluation;
    expect(interval.low).toBeGreaterThan(baseline.interval.high);
  });
});

/** A free dimension has a name in the runtime's description and is -1 in the card. */
function describeTensors(metadata: readonly InferenceSession.ValueMetadata[]) {
  return metadata
    .filter((value) => value.isTensor)
    .map(({ name, type, shape }) => ({
      name,
      dtype: type,
      shape: shape.map((size) => (typeof size === "number" ? size : -1)),
    }));
}

function withoutMeaning({ name, dtype, shape }: { name: string; dtype: string; shape: number[] }) {
  return { name, dtype, shape };
}
