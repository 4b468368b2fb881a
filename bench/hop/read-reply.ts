import { z } from "zod";
import { decodeFrame, splitTensors } from "../../src/protocol/wire/frame.ts";
import { TensorHeader, typedView } from "../../src/protocol/wire/tensor.ts";

const ReplyHeader = z.looseObject({ tensors: z.array(TensorHeader).length(1) });

/** The header of a reply's frame, and the values of its only tensor. Throws where the frame is not well formed. */
export function readReply(body: Uint8Array): { header: z.infer<typeof ReplyHeader>; values: Float32Array } {
  const frame = decodeFrame(body);
  if (!frame.ok) throw new Error(frame.message);
  const header = ReplyHeader.parse(frame.header);
  const split = splitTensors(header.tensors, frame.payload);
  if (!split.ok) throw new Error(split.message);
  const [tensor] = split.tensors;
  if (tensor?.dtype !== "float32") throw new Error("the reply holds no float32 tensor");
  return { header, values: typedView(tensor) as Float32Array };
}
