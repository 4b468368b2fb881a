import type { EdgeMessage } from "../../protocol/link.ts";
import { type HeldKey, renewKeys, toTicketKey } from "./ticket-keys.ts";

/** A hibernating WebSocket, reduced to the methods that a link uses. */
export interface LinkSocket {
  readonly readyState: number;
  send(message: string | Uint8Array): void;
  close(code: number, reason: string): void;
  serializeAttachment(attachment: unknown): void;
  deserializeAttachment(): unknown;
}

/** A runner's listener, and the keys of its tickets, newest first. */
export interface DirectWay {
  readonly url: string;
  readonly keys: readonly HeldKey[];
}

/** State that survives eviction with a socket. */
export interface Attachment {
  readonly connectionId: string;
  readonly runnerId: string;
  /** The runner's own project; absent of a socket that an older version accepted. */
  readonly project?: string;
  readonly acceptedAtMs: number;
  /** Set once the edge has done its part of the greeting: an earlier end is no fault of the runner. */
  readonly isWelcomed?: true;
  /** Address for direct requests, once the runner's hello has named it. */
  readonly direct?: DirectWay;
}

/** Attachments that were read or written since the object was created: each read deserialises one. */
const known = new WeakMap<LinkSocket, Attachment>();

export function attach(socket: LinkSocket, attachment: Attachment): void {
  socket.serializeAttachment(attachment);
  known.set(socket, attachment);
}

export function attachmentOf(socket: LinkSocket): Attachment {
  const attachment = known.get(socket) ?? (socket.deserializeAttachment() as Attachment);
  known.set(socket, attachment);
  return attachment;
}

/** Gives a runner with a listener a new key for its tickets, where one is due. */
export function handOverTicketKey(socket: LinkSocket, url: string | undefined, nowMs: number): void {
  const attachment = attachmentOf(socket);
  const keys = url === undefined ? null : renewKeys(attachment.direct?.keys ?? [], nowMs);
  if (url === undefined || keys === null) return;
  attach(socket, { ...attachment, direct: { url, keys } });
  sendMessage(socket, toTicketKey(keys[0], nowMs));
}

/** Sockets without those that are closing: an object lists them until the other side answers. */
export function openSockets(sockets: readonly LinkSocket[]): LinkSocket[] {
  return sockets.filter((socket) => socket.readyState === WebSocket.OPEN);
}

/** Sends a message; false where the socket has closed meanwhile. */
export function sendMessage(socket: LinkSocket, message: EdgeMessage): boolean {
  try {
    socket.send(JSON.stringify(message));
    return true;
  } catch {
    return false;
  }
}

export function endSocket(socket: Pick<LinkSocket, "close">, code: number, reason: string): void {
  try {
    socket.close(code, reason.slice(0, 120));
  } catch {
    // It had closed already.
  }
}
