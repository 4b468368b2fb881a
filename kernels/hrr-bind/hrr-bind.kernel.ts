import { createCircularProduct } from "./circular-product.ts";

/** Binding of holographic reduced representations (Plate, IEEE Trans. Neural Networks 1995). */
export const hrrBind = createCircularProduct({
  name: "hrr-bind",
  description: "Circular convolution of pairs of vectors: c[k] = Σ a[j]·b[k − j], neither scaled nor normalised",
  inputs: ["a", "b"],
  output: "c",
  conjugate: 1,
});
