import type { CommandWords } from "./command-words.ts";

/** Completion for bash: what the words so far lead to, then its commands, options or names. */
export function bashScript(tree: readonly CommandWords[]): string {
  const cases = tree.map(({ path, commands, options, choices, names }) => {
    const words = [...commands.map(({ name }) => name), ...choices].join(" ");
    const flags = [...options.map(({ flag }) => flag), "--help"].join(" ");
    return `    "${path}") words="${words}"; flags="${flags}"; names="${names ?? ""}" ;;`;
  });
  const paths = tree.map(({ path }) => `"${path}"`).join("|");
  return `# millrace completion bash: put this into ~/.bashrc:  source <(millrace completion bash)
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" flags="" names="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=()
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
    return
  fi
  [[ -n "\${words// /}" ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -z "$names" ]] && return
  # One by one: what compgen is given as words it expands, and these come from elsewhere.
  while IFS= read -r word; do
    [[ "$word" == "$current"* ]] && COMPREPLY+=("$word")
  done < <(millrace completion names "$names" 2>/dev/null)
}
complete -o default -F _millrace millrace
`;
}

/** Completion for fish, with what each word is for. */
export function fishScript(tree: readonly CommandWords[]): string {
  const lines = tree.flatMap(({ path, commands, options, choices, names }) => {
    const here = `-n '__millrace_at "${path}"'`;
    return [
      ...commands.map(
        ({ name, description }) => `complete -c millrace -f ${here} -a ${name} -d ${quoteForFish(description)}`,
      ),
      ...choices.map((choice) => `complete -c millrace -f ${here} -a ${choice}`),
      ...options.map(
        ({ flag, description, takesValue }) =>
          `complete -c millrace ${here} -l ${flag.slice(2)}${takesValue ? " -r" : ""} -d ${quoteForFish(description)}`,
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

function quoteForFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}

/** Completion for zsh, with what each word is for. */
export function zshScript(tree: readonly CommandWords[]): string {
  const cases = tree.map(({ path, commands, options, choices, names }) => {
    const words = [
      ...commands.map(({ name, description }) => quoteForZsh(`${name}:${description}`)),
      ...choices.map(quoteForZsh),
    ];
    const flags = options.map(({ flag, description }) => quoteForZsh(`${flag}:${description}`));
    return `    "${path}") words_=(${words.join(" ")}); flags=(${flags.join(" ")} '--help:display help'); names="${names ?? ""}" ;;`;
  });
  const paths = tree.map(({ path }) => `"${path}"`).join("|");
  return `#compdef millrace
# millrace completion zsh: put this into ~/.zshrc:  source <(millrace completion zsh)
_millrace() {
  local path_="" word names=""
  local -a words_ flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_:+$path_ }$word" in
      ${paths}) path_="\${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_" in
${cases.join("\n")}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    _describe 'option' flags
    return
  fi
  [[ -n "$names" ]] && words_+=(\${(f)"$(millrace completion names $names 2>/dev/null)"})
  if (( \${#words_} )); then _describe 'word' words_; else _files; fi
}
compdef _millrace millrace
`;
}

/** In single quotes; a colon in the word itself would end it. */
function quoteForZsh(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
