import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** One message of the conversation, as text or as a frame. */
export interface Spoken {
  readonly from: "runner" | "edge";
  readonly message: { readonly type: string } | null;
  readonly frame: Uint8Array<ArrayBuffer> | null;
  /** It did not happen to be said: it is as docs/protocol.md of that release has it. */
  readonly isWritten: boolean;
}

/**
 * Conversation of a runner and an edge of release 0.1.0 over `millrace.v1`, shortened: a calibration, a benchmark, an
 * inference, questions, a watching client, a cancelled job, draining, removal. It stays unchanged for as long as the
 * protocol's version does.
 */
export async function readConversation(): Promise<Spoken[]> {
  const text = await readFile(join(import.meta.dirname, "conversation.jsonl"), "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { from, message = null, frame, written = false } = JSON.parse(line);
    const bytes = frame === undefined ? null : new Uint8Array(Buffer.from(frame, "base64"));
    return { from, message, frame: bytes, isWritten: written };
  });
}
