import type { LinkSocket } from "../../src/edge/link/runner-socket.ts";

/** The edge's end of a runner's socket. */
export class SimSocket implements LinkSocket {
  readyState: number = WebSocket.OPEN;
  readonly #deliver: (message: string | Uint8Array) => void;
  #attachment: unknown = null;

  constructor(deliver: (message: string | Uint8Array) => void) {
    this.#deliver = deliver;
  }

  send(message: string | Uint8Array): void {
    if (this.readyState !== WebSocket.OPEN) throw new TypeError("the socket has closed");
    this.#deliver(message);
  }

  close(): void {
    this.readyState = WebSocket.CLOSED;
  }

  serializeAttachment(attachment: unknown): void {
    this.#attachment = attachment;
  }

  deserializeAttachment(): unknown {
    return this.#attachment;
  }
}
