import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { UnreadableModel } from "./each-field.ts";
import { countElements, sizeInBytes } from "./onnx-model.ts";
import { readTensor } from "./read-tensor.ts";
import { CHILDREN, MAX_DEPTH, type Message, NUMBERS } from "./survey-file.ts";

/** A file that is read in parts; `read` gives exactly `length` bytes. */
export interface RandomFile {
  readonly sizeBytes: number;
  readonly read: (offset: number, length: number) => Promise<Uint8Array>;
}

/** A file of a browser, or one that Node opened as a blob. */
export function openBlob(blob: Blob): RandomFile {
  const read = async (offset: number, length: number) =>
    new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer());
  return { sizeBytes: blob.size, read };
}

/** The file with the graph, and those that it names for its weights. */
export interface ModelFiles {
  readonly model: RandomFile;
  readonly data: { readonly get: (name: string) => RandomFile | undefined };
}

export interface OutlineLimits {
  /** Reads of all files, and bytes that the outline may have. */
  readonly reads: number;
  readonly bytes: number;
  /** Messages of the file, and eight times as many fields. */
  readonly pieces: number;
  /** Largest tensor whose numbers the outline has: shapes, axes, and the like. */
  readonly tensorBytes: number;
}

/** An ONNX file without its large weights, for `readOutline`. */
export interface Outline {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Files that hold its weights. */
  readonly dataFiles: ReadonlySet<string>;
}

/** Messages that may have a tensor inside; of all others nothing is left out. */
const LEADING: ReadonlySet<Message> = new Set<Message>(
  "model trainingInfo function graph node attribute sparseTensor tensor".split(" ") as Message[],
);
/** Fields of TensorProto and of an entry of its `external_data`. */
const TENSOR = { raw: 9, external: 13, location: 14 } as const;
const ENTRY = { key: 1, value: 2 } as const;
const ELSEWHERE = 1;
/** Longest tag and length of a field. */
const HEAD_BYTES = 20;
const WINDOW_BYTES = 2 ** 16;
const FIELDS_A_PIECE = 8;
/** Characters of a file's name in a message. */
const SHOWN_LENGTH = 64;

/**
 * Reads what a model is but for its large weights, which are skipped, so that memory and time do not grow with them.
 * Small tensors of other files are put into the outline. Throws `UnreadableModel` where the file is malformed, a limit is
 * exceeded, or weights lie outside of the files that are there; and the errors of `read`.
 */
export async function outlineModel(files: ModelFiles, limits: OutlineLimits): Promise<Outline> {
  const walk = new Walk(files, limits);
  try {
    const bytes = await walk.outline("model", 0, files.model.sizeBytes, 0);
    return { bytes: new Uint8Array(bytes), dataFiles: walk.dataFiles };
  } catch (error) {
    if (walk.failure !== null) throw walk.failure.error;
    throw error instanceof UnreadableModel ? error : new UnreadableModel("the file is not an ONNX model");
  }
}

interface Field {
  readonly number: number;
  readonly wire: WireType;
  readonly at: number;
  readonly bodyAt: number;
  readonly endAt: number;
}

/** Numbers of a tensor: raw, or in a list. */
function isPayload({ number, wire }: Field): boolean {
  return wire === WireType.LengthDelimited && (number === TENSOR.raw || NUMBERS.has(number));
}

class Walk {
  readonly dataFiles = new Set<string>();
  /** Why a file could not be read. */
  failure: { readonly error: unknown } | null = null;
  readonly #files: ModelFiles;
  readonly #limits: OutlineLimits;
  readonly #windows = new Map<RandomFile, { readonly at: number; readonly bytes: Uint8Array }>();
  #reads = 0;
  #keptBytes = 0;
  #messages = 0;
  #fields = 0;

  constructor(files: ModelFiles, limits: OutlineLimits) {
    this.#files = files;
    this.#limits = limits;
  }

  /** Outline of the message between two positions of the file. */
  async outline(message: Message, start: number, end: number, depth: number): Promise<Uint8Array> {
    if (depth > MAX_DEPTH) throw new UnreadableModel("the model is nested too deeply");
    if (++this.#messages > this.#limits.pieces) throw this.#tooMany();
    if (message === "tensor") return this.#outlineTensor(start, end);
    const children: Readonly<Record<number, Message>> = CHILDREN[message];
    const writer = new BinaryWriter();
    for (let at = start; at < end;) {
      const field = await this.#readField(at, end);
      const child = field.wire === WireType.LengthDelimited ? children[field.number] : undefined;
      if (child === undefined || !LEADING.has(child)) writer.raw(await this.#keep(field.at, field.endAt));
      else {
        const inner = await this.outline(child, field.bodyAt, field.endAt, depth + 1);
        writer.tag(field.number, WireType.LengthDelimited).bytes(inner);
      }
      at = field.endAt;
    }
    return writer.finish();
  }

  async #outlineTensor(start: number, end: number): Promise<Uint8Array> {
    const writer = new BinaryWriter();
    const payloads: Field[] = [];
    const external = new Map<string, string>();
    let isElsewhere = false;
    for (let at = start; at < end;) {
      const field = await this.#readField(at, end);
      if (isPayload(field)) payloads.push(field);
      else {
        const bytes = await this.#keep(field.at, field.endAt);
        if (field.number === TENSOR.external) external.set(...readEntry(bytes.subarray(field.bodyAt - field.at)));
        else if (field.number === TENSOR.location) isElsewhere ||= readNumber(bytes) !== 0;
        else writer.raw(bytes);
      }
      at = field.endAt;
    }
    const head = writer.finish();
    const leftOut = new BinaryWriter().raw(head).tag(TENSOR.location, WireType.Varint).int32(ELSEWHERE).finish();
    const { name, dtype, dims } = readTensor(leftOut, { bytes: 0, isOutline: true });
    const sizeBytes = sizeInBytes(dtype, countElements(dims));
    if (isElsewhere || external.size > 0) {
      const numbers = await this.#readExternal(name, external, dtype === "string" ? Number.NaN : sizeBytes);
      if (numbers === null) return leftOut;
      return new BinaryWriter().raw(head).tag(TENSOR.raw, WireType.LengthDelimited).bytes(numbers).finish();
    }
    const listedBytes = payloads.reduce((sum, { bodyAt, endAt }) => sum + endAt - bodyAt, 0);
    if (listedBytes > this.#limits.tensorBytes) {
      if (payloads.every(({ number }) => number === TENSOR.raw) && listedBytes !== sizeBytes) throw misfit(name);
      return leftOut;
    }
    const whole = new BinaryWriter().raw(head);
    for (const { at, endAt } of payloads) whole.raw(await this.#keep(at, endAt));
    return whole.finish();
  }

  /** Numbers of a small tensor in another file; null of a large one. */
  async #readExternal(
    name: string,
    entries: ReadonlyMap<string, string>,
    sizeBytes: number,
  ): Promise<Uint8Array | null> {
    const location = entries.get("location") ?? "";
    const file = this.#files.data.get(location);
    if (file === undefined) {
      const place = JSON.stringify(location.slice(0, SHOWN_LENGTH));
      throw new UnreadableModel(`the weights ${name} lie in ${place}, which is none of the files given`);
    }
    const [offset, length] = [toSize(entries.get("offset"), 0), toSize(entries.get("length"), sizeBytes)];
    if (length !== sizeBytes) throw misfit(name);
    if (!(offset + length <= file.sizeBytes)) {
      throw new UnreadableModel(
        `the weights ${name} end at byte ${offset + length} of ${location}, which has ${file.sizeBytes}`,
      );
    }
    this.dataFiles.add(location);
    if (sizeBytes > this.#limits.tensorBytes) return null;
    return this.#spend(await this.#read(file, offset, sizeBytes));
  }

  async #readField(at: number, end: number): Promise<Field> {
    if (++this.#fields > this.#limits.pieces * FIELDS_A_PIECE) throw this.#tooMany();
    const { model } = this.#files;
    const length = Math.min(HEAD_BYTES, end - at);
    // Most are in the window: waiting for each would take most of the time.
    const reader = new BinaryReader(this.#inWindow(model, at, length) ?? (await this.#read(model, at, length)));
    const [number, wire] = reader.tag();
    const bodyLength = wire === WireType.LengthDelimited ? reader.uint32() : 0;
    if (wire !== WireType.LengthDelimited) reader.skip(wire, number);
    const bodyAt = at + reader.pos;
    if (bodyAt + bodyLength > end) throw new RangeError("a field is longer than its message");
    return { number, wire, at, bodyAt, endAt: bodyAt + bodyLength };
  }

  /** A copy of bytes of the file, which become part of the outline. */
  async #keep(at: number, end: number): Promise<Uint8Array> {
    const { model } = this.#files;
    this.#checkRoom(end - at);
    return this.#spend(this.#inWindow(model, at, end - at) ?? (await this.#read(model, at, end - at)));
  }

  #spend(bytes: Uint8Array): Uint8Array {
    this.#checkRoom(bytes.length);
    this.#keptBytes += bytes.length;
    // A view would keep its whole window in memory.
    return bytes.slice();
  }

  #checkRoom(sizeBytes: number): void {
    if (this.#keptBytes + sizeBytes <= this.#limits.bytes) return;
    throw new UnreadableModel(`the file has more than ${this.#limits.bytes} bytes beside its weights`);
  }

  #inWindow(file: RandomFile, at: number, length: number): Uint8Array | null {
    const window = this.#windows.get(file);
    if (window === undefined || at < window.at || at + length > window.at + window.bytes.length) return null;
    return window.bytes.subarray(at - window.at, at - window.at + length);
  }

  async #read(file: RandomFile, at: number, length: number): Promise<Uint8Array> {
    const known = this.#inWindow(file, at, length);
    if (known !== null) return known;
    if (++this.#reads > this.#limits.reads) {
      const { reads } = this.#limits;
      throw new UnreadableModel(
        `the file takes more than ${reads} reads: store its weights in another file (onnx.save with save_as_external_data)`,
      );
    }
    const wantedBytes = Math.min(Math.max(length, WINDOW_BYTES), file.sizeBytes - at);
    const bytes = await file.read(at, wantedBytes).catch((error: unknown) => {
      this.failure = { error };
      throw error;
    });
    this.#windows.set(file, { at, bytes });
    return bytes.subarray(0, length);
  }

  #tooMany(): UnreadableModel {
    return new UnreadableModel(`the file has more than ${this.#limits.pieces} parts`);
  }
}

/** A StringStringEntryProto. */
function readEntry(message: Uint8Array): [string, string] {
  const reader = new BinaryReader(message);
  let [key, value] = ["", ""];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === ENTRY.key && wire === WireType.LengthDelimited) key = reader.string();
    else if (number === ENTRY.value && wire === WireType.LengthDelimited) value = reader.string();
    else reader.skip(wire, number);
  }
  return [key, value];
}

function readNumber(field: Uint8Array): number {
  const reader = new BinaryReader(field);
  const [, wire] = reader.tag();
  return wire === WireType.Varint ? reader.int32() : 0;
}

/** A number of bytes as text; NaN where it is none. */
function toSize(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function misfit(name: string): UnreadableModel {
  return new UnreadableModel(`the weights ${name} do not have the bytes that their shape needs`);
}
