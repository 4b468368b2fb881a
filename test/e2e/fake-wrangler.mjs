// Stands in for wrangler, whose other end is an account: the same commands and outputs, over a file that a test reads.
import { readFileSync, writeFileSync } from "node:fs";

const path = process.env.FAKE_WRANGLER_STATE;
const state = JSON.parse(readFileSync(path, "utf8"));
const command = process.argv.slice(2).join(" ");
state.calls.push(command);

const commands = [
  [
    /^whoami --json$/,
    () => {
      if (state.email === null) fail('{"loggedIn":false}');
      print({ loggedIn: true, authType: "OAuth Token", email: state.email, accounts: [{ id: "a1", name: "Lab" }] });
    },
  ],
  [/^d1 list --json$/, () => print(state.databases)],
  [
    /^d1 create (\S+)$/,
    (name) => {
      if (state.databases.some((each) => each.name === name)) fail(`A database with the name ${name} already exists`);
      state.databases.push({ uuid: "6e7b1f0e-1111-4222-8333-444455556666", name });
    },
  ],
  [/^r2 bucket list$/, () => process.stdout.write(`Listing buckets...\n${state.buckets.map(describe).join("\n\n")}\n`)],
  [/^r2 bucket create (\S+)$/, (name) => state.buckets.push(name)],
  [/^d1 migrations apply DB --remote$/, () => {}],
  [
    /^deploy$/,
    () => {
      if (state.failures-- > 0) fail("The upload failed.");
      const targets = ["schedule: * * * * *", state.edgeUrl];
      writeFileSync(
        process.env.WRANGLER_OUTPUT_FILE_PATH,
        `${JSON.stringify({ type: "deploy", version: 1, targets })}\n`,
      );
    },
  ],
  [/^secret put (\S+)$/, (name) => (state.secrets[name] = readFileSync(0, "utf8"))],
  [
    /^secret list --format json$/,
    () => print(Object.keys(state.secrets).map((name) => ({ name, type: "secret_text" }))),
  ],
  [/^secret delete (\S+)$/, (name) => delete state.secrets[name]],
];

const [found] = commands.flatMap(([pattern, run]) => {
  const match = pattern.exec(command);
  return match === null ? [] : [() => run(...match.slice(1))];
});
if (found === undefined) fail(`Unknown arguments: ${command}`);
found();
save();

function describe(name) {
  return `name:           ${name}\ncreation_date:  2026-11-22T00:00:00.000Z`;
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  save();
  process.exit(1);
}

function save() {
  writeFileSync(path, JSON.stringify(state));
}
