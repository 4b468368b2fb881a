import path from "node:path";

/** Where tests unpack the software GPU; kept between runs. */
export const CACHE_DIR = path.join(import.meta.dirname, "../../node_modules/.cache/millrace");
