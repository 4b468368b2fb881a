/** Purposes of the zoo's networks. */
export const ZOO_CATEGORIES = ["vision", "audio", "sensor"] as const;
export type ZooCategory = (typeof ZOO_CATEGORIES)[number];

const NAMES: Readonly<Record<ZooCategory, readonly string[]>> = {
  vision: [
    "lenet5",
    "glyph62",
    "resnet8",
    "visual-wake-words",
    "micro-detector",
    "face-landmarks",
    "gesture",
    "unet-lite",
    "crnn-ctc",
    "dncnn5",
  ],
  audio: [
    "ds-cnn-kws",
    "tc-resnet8-kws",
    "gru-vad",
    "gru-denoiser",
    "drum-cnn",
    "x-vector",
    "language-id",
    "instrument-id",
    "anomaly-autoencoder",
    "pitch",
  ],
  sensor: [
    "activity-cnn",
    "fall-cnn",
    "ecg5",
    "bearing-fault",
    "tcn-forecast",
    "energy-mlp",
    "lstm-autoencoder",
    "fusion",
    "ppg-heart-rate",
    "gesture-gru",
  ],
};

export interface ZooModel {
  /** Name of its folder, and of its file there. */
  readonly name: string;
  readonly category: ZooCategory;
}

/** The thirty networks, in display order. */
export const ZOO: readonly ZooModel[] = ZOO_CATEGORIES.flatMap((category) =>
  NAMES[category].map((name) => ({ name, category })),
);

/** Folder of a model's files, as a URL that ends in a slash. */
export function zooFolder(name: string): URL {
  return new URL(`${name}/`, import.meta.url);
}
