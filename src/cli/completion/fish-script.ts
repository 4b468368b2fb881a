import type { CommandWords } from "./command-words.ts";

/** Completion for fish, with what each word is for. */
export function fishScript(tree: readonly CommandWords[]): string {
  const lines = tree.flatMap(({ path, commands, options, choices, names }) => {
    const here = `-n '__millrace_at "${path}"'`;
    return [
      ...commands.map(({ name, description }) => `complete -c millrace -f ${here} -a ${name} -d ${quote(description)}`),
      ...choices.map((choice) => `complete -c millrace -f ${here} -a ${choice}`),
      ...options.map(
        ({ flag, description, takesValue }) =>
          `complete -c millrace ${here} -l ${flag.slice(2)}${takesValue ? " -r" : ""} -d ${quote(description)}`,
      ),
      ...(names === null
        ? []
        : [`complete -c millrace -f ${here} -a '(millrace completion names ${names} 2>/dev/null)'`]),
    ];
  });
  const paths = tree.map(({ path }) => `"${path}"`).join(" ");
  return `# millrace completion fish: put it where fish looks:  millrace completion fish > ~/.config/fish/completions/millrace.fish
function __millrace_at
    set -l path ""
    for word in (commandline -opc)[2..]
        set -l next (string trim "$path $word")
        contains -- "$next" ${paths}; and set path "$next"
    end
    test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}
