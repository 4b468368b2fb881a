import * as fc from "fast-check";

/** fast-check with a fixed seed: the same samples in every run, so that a failure is one everywhere. */
fc.configureGlobal({ seed: 20_261_121 });

export { fc };
