/** A tensor that a picture fits into. */
export interface PictureForm {
  readonly channels: 1 | 3;
  readonly height: number;
  readonly width: number;
  /** Whether the colours of a pixel are adjacent; otherwise each colour is its own plane. */
  readonly channelsLast: boolean;
}

/** Smaller ones are tables of something else. */
const SMALLEST_SIDE = 8;

/** Interpretation of a tensor of this shape as a picture; null if there is none. */
export function readPictureForm(shape: readonly number[]): PictureForm | null {
  const [rows, a, b, c] = shape;
  if (shape.length !== 4 || (rows !== 1 && rows !== -1)) return null;
  if (a === undefined || b === undefined || c === undefined) return null;
  if (isChannels(a) && b >= SMALLEST_SIDE && c >= SMALLEST_SIDE)
    return { channels: a, height: b, width: c, channelsLast: false };
  if (isChannels(c) && a >= SMALLEST_SIDE && b >= SMALLEST_SIDE)
    return { channels: c, height: a, width: b, channelsLast: true };
  return null;
}

function isChannels(size: number): size is 1 | 3 {
  return size === 1 || size === 3;
}

/** Tensor values of a black and a white pixel. */
export const PICTURE_RANGES = {
  "0 to 1": [0, 1],
  "−1 to 1": [-1, 1],
  "0 to 255": [0, 255],
} as const;
export type PictureRange = keyof typeof PICTURE_RANGES;

interface PictureWish {
  readonly form: PictureForm;
  readonly range: PictureRange;
  /** Whether dark becomes light: many networks expect ink as high values. */
  readonly inverted: boolean;
}

/** Pixels as RGBA bytes, row by row, as the numbers of a tensor; a picture without colours is the luma of BT.601. */
export function pixelsToNumbers(pixels: ArrayLike<number>, { form, range, inverted }: PictureWish): number[] {
  const { channels, height, width, channelsLast } = form;
  const [low, high] = PICTURE_RANGES[range];
  const count = height * width;
  const numbers = Array.from({ length: channels * count }, () => 0);
  const byteOf = (pixel: number, channel: number) => pixels[pixel * 4 + channel] ?? 0;
  for (let pixel = 0; pixel < count; pixel++) {
    for (let channel = 0; channel < channels; channel++) {
      const byte =
        channels === 3
          ? byteOf(pixel, channel)
          : 0.299 * byteOf(pixel, 0) + 0.587 * byteOf(pixel, 1) + 0.114 * byteOf(pixel, 2);
      const share = (inverted ? 255 - byte : byte) / 255;
      const value = low + share * (high - low);
      numbers[channelsLast ? pixel * channels + channel : channel * count + pixel] =
        high === 255 ? Math.round(value) : value;
    }
  }
  return numbers;
}

/** Numbers of a tensor as RGBA bytes, the least of them black and the largest white. */
export function numbersToPixels(numbers: ArrayLike<number>, form: PictureForm): Uint8ClampedArray<ArrayBuffer> {
  const { channels, height, width, channelsLast } = form;
  const count = height * width;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let place = 0; place < channels * count; place++) {
    low = Math.min(low, numbers[place] ?? 0);
    high = Math.max(high, numbers[place] ?? 0);
  }
  const scale = high > low ? 255 / (high - low) : 0;
  const pixels = new Uint8ClampedArray(count * 4);
  for (let pixel = 0; pixel < count; pixel++) {
    for (let colour = 0; colour < 3; colour++) {
      const channel = channels === 3 ? colour : 0;
      const value = numbers[channelsLast ? pixel * channels + channel : channel * count + pixel] ?? 0;
      pixels[pixel * 4 + colour] = (value - low) * scale;
    }
    pixels[pixel * 4 + 3] = 255;
  }
  return pixels;
}

/** The pixels of a picture's file at this size, as RGBA bytes. Throws where the browser cannot read it. */
export async function decodePicture(
  file: Blob,
  { width, height }: Pick<PictureForm, "width" | "height">,
): Promise<Uint8ClampedArray> {
  const bitmap = await createImageBitmap(file, { resizeWidth: width, resizeHeight: height, resizeQuality: "high" });
  const context = new OffscreenCanvas(width, height).getContext("2d");
  if (context === null) throw new Error("this browser draws no pictures");
  // Transparent areas become white, like paper.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height).data;
}
