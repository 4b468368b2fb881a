import { describe, expect, it } from "vitest";
import { numbersToPixels, pixelsToNumbers, readPictureForm } from "../../../src/dashboard/models/input-picture.ts";

describe("a picture as an input", () => {
  it.each([
    [[-1, 1, 28, 28], { channels: 1, height: 28, width: 28, channelsLast: false }],
    [[1, 3, 16, 64], { channels: 3, height: 16, width: 64, channelsLast: false }],
    [[-1, 32, 24, 3], { channels: 3, height: 32, width: 24, channelsLast: true }],
    [[-1, 1, 1, 164], null],
    [[-1, 6, 64], null],
    [[-1, 1, -1, -1], null],
    [[4, 1, 28, 28], null],
  ])("fits %j as it is laid out there", (shape, form) => {
    expect(readPictureForm(shape)).toEqual(form);
  });

  const red = [255, 0, 0, 255];
  const white = [255, 255, 255, 255];
  const form = { channels: 3, height: 1, width: 2, channelsLast: false } as const;

  it("becomes planes of colours, or colours pixel by pixel, in the range that is asked for", () => {
    const wish = { form, range: "0 to 1", inverted: false } as const;
    expect(pixelsToNumbers([...red, ...white], wish)).toEqual([1, 1, 0, 1, 0, 1]);
    const last = { ...wish, form: { ...form, channelsLast: true } };
    expect(pixelsToNumbers([...red, ...white], last)).toEqual([1, 0, 0, 1, 1, 1]);
    expect(pixelsToNumbers([...red, ...white], { ...last, range: "−1 to 1" })).toEqual([1, -1, -1, 1, 1, 1]);
    expect(pixelsToNumbers([...red, ...white], { ...last, range: "0 to 255", inverted: true })).toEqual([
      0, 255, 255, 0, 0, 0,
    ]);
  });

  it("without colours is its luma", () => {
    const grey = { form: { ...form, channels: 1 }, range: "0 to 255", inverted: false } as const;
    expect(pixelsToNumbers([...red, ...white], grey)).toEqual([76, 255]);
  });

  it("comes back from numbers with the least black and the largest white", () => {
    const grey = { channels: 1, height: 1, width: 3, channelsLast: false } as const;
    expect([...numbersToPixels([-2, 0, 2], grey)]).toEqual([0, 0, 0, 255, 128, 128, 128, 255, ...white]);
    expect([...numbersToPixels([5, 5, 5], grey)].filter((_, place) => place % 4 === 0)).toEqual([0, 0, 0]);
  });
});
