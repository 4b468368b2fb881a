import type { Episode } from "./evaluation.ts";

/**
 * Every episode of an evaluation as one npy file of records (NumPy's `numpy.lib.format`), which `numpy.load` reads as a
 * structured array: all episodes of a member together, all members of an entrant. Records have one length, so any of
 * them is found without reading the others.
 */
const FIELDS = [
  ["entrant", "<u2", 2],
  ["member", "<u4", 4],
  ["episode", "<u4", 4],
  ["return", "<f4", 4],
  ["length", "<u4", 4],
  ["cause", "|u1", 1],
] as const;

/** Bytes of one episode, and of what stands before the first. */
export const EPISODE_BYTES = FIELDS.reduce((sum, [, , bytes]) => sum + bytes, 0);
export const EPISODES_OFFSET = 256;

/** Bits of `cause`; see the engine's `CAUSES`. */
const CAUSE = { terminated: 1, truncated: 2, failed: 4 } as const;

/** A file for so many episodes, all of them still zeros. */
export function createEpisodesFile(episodes: number): Uint8Array<ArrayBuffer> {
  const descr = FIELDS.map(([name, type]) => `('${name}', '${type}')`).join(", ");
  const fields = `{'descr': [${descr}], 'fortran_order': False, 'shape': (${episodes},), }`;
  const file = new Uint8Array(EPISODES_OFFSET + EPISODE_BYTES * episodes);
  file.fill(0x20, 0, EPISODES_OFFSET);
  file.set([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0]);
  new DataView(file.buffer).setUint16(8, EPISODES_OFFSET - 10, true);
  file.set(new TextEncoder().encode(fields), 10);
  file[EPISODES_OFFSET - 1] = 0x0a;
  return file;
}

/** One record as numbers. */
export interface EpisodeRecord {
  readonly entrant: number;
  readonly member: number;
  readonly episode: number;
  readonly return: number;
  readonly length: number;
  readonly cause: number;
}

/** Puts an episode at a place of the file. */
export function writeEpisode(view: DataView, place: number, record: EpisodeRecord): void {
  const at = EPISODES_OFFSET + EPISODE_BYTES * place;
  view.setUint16(at, record.entrant, true);
  view.setUint32(at + 2, record.member, true);
  view.setUint32(at + 6, record.episode, true);
  view.setFloat32(at + 10, record.return, true);
  view.setUint32(at + 14, record.length, true);
  view.setUint8(at + 18, record.cause);
}

/** The episode whose record begins at a byte of `view`. */
export function readEpisode(view: DataView, at: number): Episode {
  const cause = view.getUint8(at + 18);
  return {
    entrant: view.getUint16(at, true),
    member: view.getUint32(at + 2, true),
    episode: view.getUint32(at + 6, true),
    return: toFinite(view.getFloat32(at + 10, true)),
    length: view.getUint32(at + 14, true),
    terminated: (cause & CAUSE.terminated) !== 0,
    truncated: (cause & CAUSE.truncated) !== 0,
    failed: (cause & CAUSE.failed) !== 0,
  };
}

/** JSON has no NaN. */
function toFinite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
