import { LIMITS } from "./limits.ts";
import { countElements, measureElements, type Tensor, type TensorHeader } from "./tensor.ts";

const LENGTH_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * A binary frame: u32 little-endian header length, the header as JSON, then the tensors' bytes in
 * the order of `header.tensors`, without padding.
 */
export function encodeFrame(header: object, tensors: readonly Tensor[]): Uint8Array<ArrayBuffer> {
  const heads = tensors.map(({ name, dtype, shape }): TensorHeader => ({ name, dtype, shape }));
  const head = encoder.encode(JSON.stringify({ ...header, tensors: heads }));
  const total = tensors.reduce((sum, tensor) => sum + tensor.bytes.byteLength, LENGTH_BYTES + head.byteLength);
  const frame = new Uint8Array(total);
  new DataView(frame.buffer).setUint32(0, head.byteLength, true);
  frame.set(head, LENGTH_BYTES);
  let offset = LENGTH_BYTES + head.byteLength;
  for (const tensor of tensors) {
    frame.set(tensor.bytes, offset);
    offset += tensor.bytes.byteLength;
  }
  return frame;
}

export type FrameHeader = { ok: true; header: unknown; payload: Uint8Array } | { ok: false; message: string };

/** Splits a frame into its header (parsed, not yet validated) and the bytes behind it. */
export function decodeFrame(frame: Uint8Array): FrameHeader {
  if (frame.byteLength < LENGTH_BYTES) return { ok: false, message: "the frame is shorter than its length field" };
  const headLength = new DataView(frame.buffer, frame.byteOffset).getUint32(0, true);
  if (headLength > LIMITS.frameHeaderBytes)
    return { ok: false, message: `the frame header is over ${LIMITS.frameHeaderBytes} bytes` };
  if (LENGTH_BYTES + headLength > frame.byteLength) return { ok: false, message: "the frame ends inside its header" };
  try {
    const header: unknown = JSON.parse(decoder.decode(frame.subarray(LENGTH_BYTES, LENGTH_BYTES + headLength)));
    return { ok: true, header, payload: frame.subarray(LENGTH_BYTES + headLength) };
  } catch {
    return { ok: false, message: "the frame header is not JSON" };
  }
}

export type SplitResult = { ok: true; tensors: Tensor[] } | { ok: false; message: string };

/** Cuts a payload into the tensors that the header lists; the lengths must fit exactly. */
export function splitTensors(headers: readonly TensorHeader[], payload: Uint8Array): SplitResult {
  const tensors: Tensor[] = [];
  let offset = 0;
  for (const header of headers) {
    const elements = countElements(header.shape);
    if (elements > LIMITS.tensorElements)
      return { ok: false, message: `tensor ${header.name} has more than ${LIMITS.tensorElements} elements` };
    const length = measureElements(header.dtype, elements, payload, offset);
    if (length === null) return { ok: false, message: `the frame ends inside tensor ${header.name}` };
    const end = offset + length;
    tensors.push({ ...header, bytes: payload.subarray(offset, end) });
    offset = end;
  }
  if (offset !== payload.byteLength)
    return { ok: false, message: `${payload.byteLength - offset} bytes stand behind the last tensor` };
  return { ok: true, tensors };
}
