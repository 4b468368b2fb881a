import type { EdgeMessage } from "../../protocol/link.ts";

/** What survives eviction with a socket. */
export interface Attachment {
  readonly connectionId: string;
  readonly runnerId: string;
  readonly acceptedAtMs: number;
}

export function attach(socket: WebSocket, attachment: Attachment): void {
  socket.serializeAttachment(attachment);
}

export function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}

/** An object's sockets without those that are closing: they stay listed until the other side answers. */
export function openSockets(ctx: DurableObjectState): WebSocket[] {
  return ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN);
}

/** Sends a message; false where the socket has closed meanwhile. */
export function sendMessage(socket: WebSocket, message: EdgeMessage): boolean {
  try {
    socket.send(JSON.stringify(message));
    return true;
  } catch {
    return false;
  }
}

export function endSocket(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason.slice(0, 120));
  } catch {
    // It had closed already.
  }
}
