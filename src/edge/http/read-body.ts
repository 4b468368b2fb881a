import { ProblemError } from "../../protocol/problem.ts";

/** Reads a body of at most `maxBytes`; a longer one is refused before it is read to its end. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    new ProblemError("payload-too-large", `The body may hold at most ${maxBytes} bytes.`, {
      errors: [{ pointer: "#", message: `must be at most ${maxBytes} bytes` }],
    });
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** The media type of a request, without parameters and in lower case. */
export function mediaTypeOf(request: Request): string {
  return (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Parses a JSON body; what is not JSON is a problem that says so. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new ProblemError("invalid-request", "The body is not JSON.", {
      errors: [{ pointer: "#", message: "must be JSON in UTF-8" }],
    });
  }
}
