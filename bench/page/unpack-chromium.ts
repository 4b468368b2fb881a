/**
 * Unpacks the packed Chromium beneath TMPDIR, where the package's `inflate` puts everything: run as
 * a process of its own so that TMPDIR can be a folder that nothing else sees until it is whole.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inflate } from "@sparticuz/chromium";

const bin = path.join(path.dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "../bin");

for (const archive of ["chromium.br", "al2023.tar.br", "fonts.tar.br"]) await inflate(path.join(bin, archive));
