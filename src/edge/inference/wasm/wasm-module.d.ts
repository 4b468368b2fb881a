/** A compiled program: wrangler, Miniflare and the edge's tests import such a file as a module. */
declare module "*.wasm" {
  const program: WebAssembly.Module;
  export default program;
}
