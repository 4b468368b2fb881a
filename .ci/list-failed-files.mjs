// Prints the files with a failed test, one a line, of the JSON report of vitest that is named as the first argument.
import { readFileSync } from "node:fs";
import path from "node:path";

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { name, status } of testResults) if (status !== "passed") console.log(path.relative(".", name));
