/** The used part of fft.js: the package is missing until the first bench installs it. */
declare module "fft.js" {
  export default class FFT {
    constructor(size: number);
    createComplexArray(): number[];
    realTransform(out: number[], data: ArrayLike<number>): void;
    completeSpectrum(spectrum: number[]): void;
    inverseTransform(out: number[], data: ArrayLike<number>): void;
  }
}
