import type { EdgeMessage } from "../../protocol/link.ts";
import { type HeldKey, renewKeys, toTicketKey } from "./ticket-keys.ts";

/** A runner's listener, and the keys of its tickets, newest first. */
export interface DirectWay {
  readonly url: string;
  readonly keys: readonly HeldKey[];
}

/** What survives eviction with a socket. */
export interface Attachment {
  readonly connectionId: string;
  readonly runnerId: string;
  readonly acceptedAtMs: number;
  /** Once the edge has done its part of the greeting: an end before says nothing against the runner. */
  readonly isWelcomed?: true;
  /** Where the runner takes direct requests, once its hello has said so. */
  readonly direct?: DirectWay;
}

/** Attachments that were read or written since the object came to life: reading one deserialises it. */
const known = new WeakMap<WebSocket, Attachment>();

export function attach(socket: WebSocket, attachment: Attachment): void {
  socket.serializeAttachment(attachment);
  known.set(socket, attachment);
}

export function attachmentOf(socket: WebSocket): Attachment {
  const attachment = known.get(socket) ?? (socket.deserializeAttachment() as Attachment);
  known.set(socket, attachment);
  return attachment;
}

/** Gives a runner with a listener a new key for its tickets, where one is due. */
export function handOverTicketKey(socket: WebSocket, url: string | undefined, nowMs: number): void {
  const attachment = attachmentOf(socket);
  const keys = url === undefined ? null : renewKeys(attachment.direct?.keys ?? [], nowMs);
  if (url === undefined || keys === null) return;
  attach(socket, { ...attachment, direct: { url, keys } });
  sendMessage(socket, toTicketKey(keys[0], nowMs));
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
