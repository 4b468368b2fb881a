import { ProblemError } from "../../protocol/wire/problem.ts";

/** A sound: the mean of its channels, in −1 to 1. */
export interface Sound {
  readonly rateHz: number;
  readonly samples: Float64Array;
}

const [PCM, FLOAT, EXTENSIBLE] = [1, 3, 0xfffe];
type ReadSample = (view: DataView, at: number) => number;
/** Sample readers by coding and bits; 8 bits are unsigned. */
const READERS: Readonly<Record<string, ReadSample>> = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 2 ** 7,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true) / 2 ** 15,
  [`${PCM}/24`]: (view, at) => (view.getUint16(at, true) | (view.getInt8(at + 2) << 16)) / 2 ** 23,
  [`${PCM}/32`]: (view, at) => view.getInt32(at, true) / 2 ** 31,
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true),
  [`${FLOAT}/64`]: (view, at) => view.getFloat64(at, true),
};

/** Reads a WAV file of PCM in 8, 16, 24 or 32 bits or of floats. Throws `invalid-request` for any other. */
export function decodeWav(file: Uint8Array): Sound {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 12 || textAt(file, 0) !== "RIFF" || textAt(file, 8) !== "WAVE") throw refuse("it is no WAV file");
  let format: Format | null = null;
  for (let at = 12; at + 8 <= file.length;) {
    const [kind, length] = [textAt(file, at), view.getUint32(at + 4, true)];
    if (kind === "fmt " && length >= 16 && at + 8 + length <= file.length) format = readFormat(view, at + 8, length);
    if (kind === "data") {
      if (format === null) throw refuse("its format does not stand before its samples");
      // Writers that were cut off leave a length that the file does not have.
      return readSamples(view, at + 8, Math.min(length, file.length - at - 8), format);
    }
    at += 8 + length + (length % 2);
  }
  throw refuse("it has no samples");
}

interface Format {
  readonly channels: number;
  readonly rateHz: number;
  readonly bits: number;
  readonly read: ReadSample;
}

function readFormat(view: DataView, at: number, length: number): Format {
  const named = view.getUint16(at, true);
  const coding = named === EXTENSIBLE && length >= 26 ? view.getUint16(at + 24, true) : named;
  const [channels, rateHz, bits] = [
    view.getUint16(at + 2, true),
    view.getUint32(at + 4, true),
    view.getUint16(at + 14, true),
  ];
  const read = READERS[`${coding}/${bits}`];
  if (read === undefined) throw refuse(`its coding ${coding} with ${bits} bits is none of PCM and floats`);
  if (channels < 1 || rateHz < 1) throw refuse("its format is broken");
  return { channels, rateHz, bits, read };
}

function readSamples(view: DataView, at: number, length: number, { channels, rateHz, bits, read }: Format): Sound {
  const frameBytes = (channels * bits) / 8;
  const samples = new Float64Array(Math.floor(length / frameBytes));
  if (samples.length === 0) throw refuse("it has no samples");
  for (let frame = 0; frame < samples.length; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += read(view, at + frame * frameBytes + (channel * bits) / 8);
    samples[frame] = sum / channels;
  }
  return { rateHz, samples };
}

function textAt(file: Uint8Array, at: number): string {
  return String.fromCharCode(...file.subarray(at, at + 4));
}

function refuse(why: string): ProblemError {
  return new ProblemError("invalid-request", `The sound cannot be read: ${why}.`);
}
