import { createCircularProduct } from "../hrr-bind/circular-product.ts";

/** Unbinding of holographic reduced representations, approximately the inverse of binding (Plate 1995). */
export const hrrUnbind = createCircularProduct({
  name: "hrr-unbind",
  description: "Circular correlation of pairs of vectors: b[k] = Σ a[j]·c[k + j], neither scaled nor normalised",
  inputs: ["c", "a"],
  output: "b",
  conjugate: -1,
});
