/**
 * Unpacks the packed Chromium in TMPDIR, where the package's `inflate` writes all: run as its own process, so that
 * TMPDIR can be a private folder until it is complete.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inflate } from "@sparticuz/chromium";

const bin = path.join(path.dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "../bin");

for (const archive of ["chromium.br", "al2023.tar.br", "fonts.tar.br"]) await inflate(path.join(bin, archive));
