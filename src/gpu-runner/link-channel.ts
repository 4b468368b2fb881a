import type { RunnerMessage } from "../protocol/link.ts";

/** The way to the edge while there is one: what the parts of a session send through. */
export class LinkChannel {
  #socket: WebSocket | null = null;

  attach(socket: WebSocket): void {
    this.#socket = socket;
  }

  detach(): void {
    this.#socket = null;
  }

  /** Sends a message; false where there is no connection now. */
  send(message: RunnerMessage): boolean {
    return this.sendRaw(JSON.stringify(message));
  }

  sendRaw(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(data);
    return true;
  }
}
