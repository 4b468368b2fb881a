import type { KnownSource } from "../schema-arbitraries.ts";

const IDS = /\b[a-z]{3}_[0-9a-z]{26}\b/g;
const TOKENS = /\bmt_[\w-]{20,}/g;
const FIELDS = /"([A-Za-z]+)":"([^"\\]{1,64})"/g;
const DIGESTS = /\bsha256:[0-9a-f]{64}\b/g;
/** Values of one kind: the latest, which most likely still exist. */
const MOST = 24;

/**
 * Ids, tokens, digests and names from the edge's replies, so that requests name existing objects. The ids known at the
 * call of `protect` are kept from destructive requests: the fuzzer's own keys and runner.
 */
export class KnownValues implements KnownSource {
  readonly #byKind = new Map<string, string[]>();
  readonly #names: string[] = [];
  readonly #protected = new Set<string>();

  /** Notes every id of a reply, and short texts by their fields and by the kind of thing that was asked for. */
  harvest(text: string, path: string): void {
    for (const [, field = "", value = ""] of text.matchAll(FIELDS)) {
      this.#note(`field ${field}`, value);
      if (field === "name") this.#note(`name in ${collectionOf(path)}`, value);
    }
    for (const pattern of [IDS, TOKENS, DIGESTS]) {
      for (const [value] of text.matchAll(pattern)) this.#note(kindOf(value), value);
    }
  }

  addNames(names: readonly string[]): void {
    this.#names.push(...names);
  }

  protect(ids: readonly string[]): void {
    for (const id of ids) {
      this.#protected.add(id);
      this.#note(kindOf(id), id);
    }
  }

  isProtected(text: string): boolean {
    return [...this.#protected].some((id) => text.includes(id));
  }

  /** A value of a kind, such as `job`, `mt` or `sha256`; undefined where none is known. */
  pick(kind: string, at: number): string | undefined {
    const values = this.#byKind.get(kind) ?? [];
    return values[at % Math.max(1, values.length)];
  }

  /** A name for a field, or a parameter of a path; of anything where none is known there. */
  pickName(at: number, field: string, path: string): string {
    const near = this.pick(`name in ${collectionOf(path)}`, at) ?? this.pick(`field ${field}`, at);
    return near ?? this.#names[at % this.#names.length] ?? "unknown";
  }

  #note(kind: string, value: string): void {
    const values = this.#byKind.get(kind) ?? [];
    if (values.includes(value)) return;
    values.push(value);
    const spare = values.findIndex((each) => !this.#protected.has(each));
    if (values.length > MOST && spare >= 0) values.splice(spare, 1);
    this.#byKind.set(kind, values);
  }
}

/** Collection of a path: the part after the version, such as `models`. */
function collectionOf(path: string): string {
  return path.split("/")[2] ?? "";
}

function kindOf(value: string): string {
  return value.split(/[_:]/, 1)[0] ?? "";
}
