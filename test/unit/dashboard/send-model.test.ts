import { expect, it } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { sendModel } from "../../../src/dashboard/models/send-model.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";

/** A file that says its size and has no content: nothing may read it. */
function fileOf(sizeBytes: number): File {
  return Object.defineProperty(new File([], "model.onnx"), "size", { value: sizeBytes });
}

it("a model over the limit is refused before any of its files is read or sent", async () => {
  const reports: unknown[] = [];
  const sending = { onProgress: (step: unknown) => reports.push(step), signal: new AbortController().signal };
  const client = createClient({ baseUrl: "http://127.0.0.1:1" });
  const send = (model: number, data: number) =>
    sendModel(client, { name: "large", model: fileOf(model), data: [fileOf(data)] }, sending);
  const { largeModelBytes } = LIMITS;
  await expect(send(largeModelBytes - 5, 6)).rejects.toMatchObject({
    problem: {
      errors: [
        {
          pointer: "#/model",
          message: `has ${largeModelBytes + 1} bytes in all its files, and may have ${largeModelBytes}`,
        },
      ],
    },
  });
  expect(reports).toEqual([]);
  await expect(send(largeModelBytes - 5, 5)).rejects.not.toMatchObject({ problem: expect.anything() });
  expect(reports).not.toEqual([]);
});
