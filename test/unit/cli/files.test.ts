import { describe, expect, it } from "vitest";
import { readLines } from "../../../src/cli/infer/act-command.ts";
import { decodePng, type Picture } from "../../../src/cli/infer/decode-png.ts";
import { decodeWav } from "../../../src/cli/infer/decode-wav.ts";
import { fitPicture, fitSound } from "../../../src/cli/infer/fit-input.ts";
import type { TensorSpec } from "../../../src/protocol/models/model.ts";
import { encodePng } from "./encode-png.ts";
import { wrapWav } from "./wrap-wav.ts";

const spec = (shape: number[], dtype: TensorSpec["dtype"] = "float32"): TensorSpec => ({ name: "x", dtype, shape });

function drawNoise(channels: Picture["channels"], width = 7, height = 11): Picture {
  const pixels = Uint8Array.from(
    { length: width * height * channels },
    (_, index) => (index * 7919 + (index >> 3) * 104_729) % 256,
  );
  return { width, height, channels, pixels };
}

describe("a PNG file", () => {
  it.each([1, 2, 3, 4] as const)("of %d channels is read through all filters", (channels) => {
    const picture = drawNoise(channels);
    expect(decodePng(encodePng(picture))).toEqual(picture);
  });

  it("of one pixel, as another program wrote it, is read", () => {
    const red = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
    expect(decodePng(Buffer.from(red, "base64"))).toEqual({
      width: 1,
      height: 1,
      channels: 4,
      pixels: new Uint8Array([255, 0, 0, 255]),
    });
  });

  it("that is another or broken is refused with the reason", () => {
    const good = encodePng(drawNoise(3));
    const flipped = (index: number) => Buffer.from(good.map((byte, at) => (at === index ? byte ^ 1 : byte)));
    for (const [file, why] of [
      [Buffer.from("GIF89a"), "no PNG file"],
      [Buffer.alloc(0), "no PNG file"],
      [good.subarray(0, 20), "ends before its end"],
      [good.subarray(0, -12), "ends before its end"],
      [flipped(17), "IHDR is broken"],
      [flipped(good.length - 20), "IDAT is broken"],
      [encodePng(drawNoise(1), { colour: 3 }), "palette"],
      [encodePng(drawNoise(1), { bits: 16 }), "8 bits"],
      [encodePng(drawNoise(1), { interlace: 1 }), "interlaced"],
      [encodePng({ ...drawNoise(1), height: 0 }), "7 × 0 pixels"],
      [encodePng({ ...drawNoise(3), channels: 1, pixels: new Uint8Array(77) }, { colour: 2 }), "pixels are broken"],
    ] as const) {
      expect(() => decodePng(file), why).toThrow(why);
    }
  });
});

describe("a picture as an input", () => {
  const grey: Picture = { width: 4, height: 2, channels: 1, pixels: new Uint8Array([0, 255, 10, 20, 255, 0, 30, 40]) };

  it("is the mean of the area under each pixel, 0 to 1", () => {
    const { tensor, note } = fitPicture(grey, spec([-1, 1, 1, 2]));
    expect(tensor).toEqual({ dtype: "float32", shape: [1, 1, 1, 2], data: [127.5 / 255, 25 / 255] });
    expect(note).toBe("4×2 pixels as 2×1 grey");
    const uneven = fitPicture(
      { width: 3, height: 1, channels: 1, pixels: new Uint8Array([30, 60, 90]) },
      spec([1, 1, 1, 2]),
    );
    expect(uneven.tensor.data.map((value: number) => Math.round(255 * value))).toEqual([40, 80]);
    const larger = fitPicture({ width: 1, height: 1, channels: 1, pixels: new Uint8Array([51]) }, spec([-1, 2, 2]));
    expect(larger.tensor.data.map((value: number) => Number(value.toFixed(10)))).toEqual([0.2, 0.2, 0.2, 0.2]);
  });

  it("is grey by its luma, in the order and the type of the input, over white where it is transparent", () => {
    const rgb: Picture = { width: 2, height: 1, channels: 3, pixels: new Uint8Array([255, 0, 0, 0, 0, 255]) };
    const luma = fitPicture(rgb, spec([-1, 1, 1, 2])).tensor.data as number[];
    expect(luma[0]).toBeCloseTo(0.299, 10);
    expect(luma[1]).toBeCloseTo(0.114, 10);
    expect(fitPicture(rgb, spec([-1, 3, 1, 2])).tensor.data).toEqual([1, 0, 0, 0, 0, 1]);
    const rows = [255, 0, 0, 0, 0, 255];
    expect(fitPicture(rgb, spec([-1, 2, 2, 3], "uint8")).tensor.data).toEqual([...rows, ...rows]);
    const half: Picture = { width: 1, height: 1, channels: 2, pixels: new Uint8Array([0, 102]) };
    expect(fitPicture(half, spec([1, 1, 1, 1])).tensor.data[0]).toBeCloseTo(0.6, 10);
  });

  it("is refused by an input that takes none", () => {
    for (const shape of [[-1, 784], [-1, 2, 8, 8], [-1, 1, -1, 8], [4]]) {
      expect(() => fitPicture(grey, spec(shape)), shape.join()).toThrow("takes no picture");
    }
  });
});

describe("a WAV file", () => {
  const int = (bytes: number, ...values: number[]) => {
    const data = Buffer.alloc(bytes * values.length);
    for (const [index, value] of values.entries()) data.writeIntLE(value, index * bytes, bytes);
    return data;
  };
  const float = new Float32Array([0.5, -1]);
  const double = new Float64Array([0.5, -1]);
  it.each([
    ["8 bits", wrapWav(1, 8, 1, Buffer.from([192, 0]))],
    ["16 bits", wrapWav(1, 16, 1, int(2, 2 ** 14, -(2 ** 15)))],
    ["24 bits", wrapWav(1, 24, 1, int(3, 2 ** 22, -(2 ** 23)))],
    ["32 bits", wrapWav(1, 32, 1, int(4, 2 ** 30, -(2 ** 31)))],
    ["floats", wrapWav(3, 32, 1, Buffer.from(float.buffer))],
    ["doubles", wrapWav(3, 64, 1, Buffer.from(double.buffer))],
    ["an extensible format", wrapWav(0xfffe, 16, 1, int(2, 2 ** 14, -(2 ** 15)), { guid: 1 })],
    ["two channels", wrapWav(1, 16, 2, int(2, 2 ** 15 - 1, 1, -(2 ** 15), -(2 ** 15)))],
  ])("of %s is read", (_, file) => {
    const { rateHz, samples } = decodeWav(file);
    expect({ rateHz, samples: [...samples] }).toEqual({ rateHz: 8_000, samples: [0.5, -1] });
  });

  it("that was cut off has what it has, and another is refused", () => {
    const file = wrapWav(1, 16, 1, int(2, 1, 2, 3));
    expect(decodeWav(file.subarray(0, -2)).samples).toHaveLength(2);
    for (const [broken, why] of [
      [Buffer.from("RIFF"), "no WAV file"],
      [file.subarray(0, 30), "no samples"],
      [wrapWav(1, 16, 1, Buffer.alloc(0)), "no samples"],
      [wrapWav(2, 4, 1, Buffer.alloc(8)), "coding 2 with 4 bits"],
      [wrapWav(1, 16, 0, Buffer.alloc(8)), "format is broken"],
    ] as const) {
      expect(() => decodeWav(broken), why).toThrow(why);
    }
  });
});

describe("a sound as an input", () => {
  const sound = { rateHz: 4, samples: Float64Array.from([0, 1, 2, 3]) };

  it("is cut, or filled up with silence", () => {
    expect(fitSound(sound, spec([-1, 3])).tensor).toEqual({ dtype: "float32", shape: [1, 3], data: [0, 1, 2] });
    expect(fitSound(sound, spec([-1, 1, 6])).tensor).toEqual({
      dtype: "float32",
      shape: [1, 1, 6],
      data: [0, 1, 2, 3, 0, 0],
    });
    expect(fitSound(sound, spec([-1, -1])).tensor.shape).toEqual([1, 4]);
  });

  it("is resampled linearly where another rate is wanted", () => {
    expect(fitSound(sound, spec([-1, -1]), 8).tensor.data).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 1.5]);
    expect(fitSound(sound, spec([-1, 2]), 2).tensor.data).toEqual([0, 2]);
    expect(fitSound(sound, spec([-1, 2]), 2).note).toBe(
      "4 samples at 4 Hz as 2 Hz, linearly: the first 1000 ms as 2 values",
    );
  });

  it("is refused by an input that takes no samples", () => {
    for (const [shape, dtype] of [
      [[-1, 40, 20], "float32"],
      [[4], "float32"],
      [[-1, 4], "int32"],
    ] as const) {
      expect(() => fitSound(sound, spec([...shape], dtype))).toThrow("takes no samples");
    }
  });
});

describe("the lines of a stream", () => {
  it("are those of the text, however it is cut", async () => {
    const bytes = new TextEncoder().encode("[1]\n\n[2é]\n[3]");
    for (let at = 0; at <= bytes.length; at++) {
      const cut = async function* () {
        yield bytes.subarray(0, at);
        yield bytes.subarray(at);
      };
      expect(await Array.fromAsync(readLines(cut()))).toEqual(["[1]", "", "[2é]", "[3]"]);
    }
  });
});
