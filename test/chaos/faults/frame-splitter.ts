/** Bytes that belong together: a WebSocket frame, or other bytes. */
export interface Unit {
  readonly bytes: Buffer;
  /** A whole message in one frame, which may be sent twice or change places with another. */
  readonly isMessage: boolean;
  /** Text of an unmasked text message, as servers send it. */
  readonly text: string | null;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;

/** Cuts one direction of an HTTP connection into frames (RFC 6455, 5.2) once it has become a WebSocket. */
export class FrameSplitter {
  #isSocket = false;
  #buffer: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): Unit[] {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    if (this.#isSocket) return this.#takeFrames();
    // Earlier requests may have gone over the connection; the head of this one comes in one piece, for it is small.
    const end = this.#buffer.indexOf(HEAD_END);
    this.#isSocket = end >= 0 && isUpgrade(this.#buffer.toString("latin1", 0, end));
    const units = [other(this.#cut(this.#isSocket ? end + HEAD_END.length : this.#buffer.length))];
    return this.#isSocket ? [...units, ...this.#takeFrames()] : units;
  }

  #takeFrames(): Unit[] {
    const units: Unit[] = [];
    for (let size = frameSize(this.#buffer); size !== null; size = frameSize(this.#buffer)) {
      units.push(toUnit(this.#cut(size.headBytes + size.payloadBytes), size.headBytes));
    }
    return units;
  }

  #cut(bytes: number): Buffer {
    const head = this.#buffer.subarray(0, bytes);
    this.#buffer = this.#buffer.subarray(bytes);
    return head;
  }
}

/** True for the head of a request or a response with an upgrade. */
function isUpgrade(head: string): boolean {
  return /^(GET |HTTP\/1\.1 101)/.test(head) && /^upgrade: *websocket\r?$/im.test(head);
}

function other(bytes: Buffer): Unit {
  return { bytes, isMessage: false, text: null };
}

/** Null where the frame is not whole yet. */
function frameSize(buffer: Buffer): { headBytes: number; payloadBytes: number } | null {
  if (buffer.length < 2) return null;
  const short = buffer[1]! & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const headBytes = 2 + lengthBytes + (isMasked(buffer) ? 4 : 0);
  if (buffer.length < headBytes) return null;
  const payloadBytes =
    lengthBytes === 0 ? short : lengthBytes === 2 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2));
  return buffer.length < headBytes + payloadBytes ? null : { headBytes, payloadBytes };
}

function isMasked(frame: Buffer): boolean {
  return (frame[1]! & 0x80) !== 0;
}

function toUnit(bytes: Buffer, headBytes: number): Unit {
  const opcode = bytes[0]! & 0x0f;
  const isFinal = (bytes[0]! & 0x80) !== 0;
  if (!isFinal || opcode === CONTINUATION || (opcode !== TEXT && opcode !== BINARY)) return other(bytes);
  const isReadable = opcode === TEXT && !isMasked(bytes);
  return { bytes, isMessage: true, text: isReadable ? bytes.subarray(headBytes).toString("utf8") : null };
}
