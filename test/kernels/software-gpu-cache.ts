import path from "node:path";

/** Folder of the tests' unpacked software GPU; kept between runs. */
export const CACHE_DIR = path.join(import.meta.dirname, "../../node_modules/.cache/millrace");
