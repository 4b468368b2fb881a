/** A request as it goes on the wire. */
export interface FuzzRequest {
  /** Operation that it was made for; the edge may find another at a changed path or method. */
  readonly operationId: string;
  /** True if method and path are those of the operation. */
  readonly isAtOperation: boolean;
  readonly method: string;
  /** Path with its query, escaped. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** True if the connection ends before the body that its length promises. */
  readonly isTruncated: boolean;
}

const SHOWN_BYTES = 600;

/** Everything that is needed to send a request again, but for its key. */
export function describeRequest({ method, path, headers, body, isTruncated }: FuzzRequest): string {
  const { authorization: _, ...told } = headers;
  const bytes = body ?? new Uint8Array();
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  const shownHeaders = JSON.stringify(told).slice(0, SHOWN_BYTES);
  const shown = isText ? Buffer.from(bytes).toString() : `0x${Buffer.from(bytes).toString("hex")}`;
  const cut = shown.length > SHOWN_BYTES ? `${shown.slice(0, SHOWN_BYTES)}… (${bytes.length} bytes)` : shown;
  const line = `${method} ${path.slice(0, SHOWN_BYTES)} ${shownHeaders}${isTruncated ? " truncated" : ""} ${cut}`;
  return line.toWellFormed();
}
