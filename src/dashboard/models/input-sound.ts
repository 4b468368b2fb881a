/** Rates that every browser resamples to. */
export const SOUND_RATES_HZ = { least: 8_000, most: 96_000 } as const;

/** Shorter ones are tables of something else. */
const SHORTEST = 64;
const FREE = -1;

/** Samples that a tensor of this shape takes as sound: 0 for as many as there are, null where it is no sound. */
export function readSoundLength(shape: readonly number[]): number | null {
  const length = shape.at(-1);
  const before = shape.slice(0, -1);
  if (length === undefined || before.length > 2 || !before.every((size) => size === 1 || size === FREE)) return null;
  if (length === FREE) return before.length > 0 ? 0 : null;
  return length >= SHORTEST ? length : null;
}

/** The samples from the beginning, with silence behind them where there are too few; all where `length` is 0. */
export function fitSound(samples: Float32Array, length: number): Float32Array {
  if (length === 0 || samples.length === length) return samples;
  const fitted = new Float32Array(length);
  fitted.set(samples.subarray(0, length));
  return fitted;
}

/** A sound's file as samples from −1 to 1 at this rate, its channels averaged. Throws where the browser cannot read it. */
export async function decodeSound(file: Blob, rateHz: number): Promise<Float32Array> {
  // The decoder also resamples, to the rate of its context.
  const sound = await new OfflineAudioContext(1, 1, rateHz).decodeAudioData(await file.arrayBuffer());
  const mixed = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; channel++) {
    const samples = sound.getChannelData(channel);
    for (let place = 0; place < mixed.length; place++)
      mixed[place] = (mixed[place] ?? 0) + (samples[place] ?? 0) / sound.numberOfChannels;
  }
  return mixed;
}

/** The least and largest sample of each of so many parts, for a drawing. */
export function outlineSound(samples: Float32Array, parts: number): { readonly low: number; readonly high: number }[] {
  return Array.from({ length: Math.min(parts, samples.length) }, (_, part) => {
    const from = Math.floor((part * samples.length) / parts);
    const to = Math.max(from + 1, Math.floor(((part + 1) * samples.length) / parts));
    const own = samples.subarray(from, to);
    return { low: Math.min(...own), high: Math.max(...own) };
  });
}
