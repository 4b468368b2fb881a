import type { CommandWords } from "./command-words.ts";

/** Completion for zsh, with what each word is for. */
export function zshScript(tree: readonly CommandWords[]): string {
  const cases = tree.map(({ path, commands, options, choices, names }) => {
    const words = [...commands.map(({ name, description }) => quote(`${name}:${description}`)), ...choices.map(quote)];
    const flags = options.map(({ flag, description }) => quote(`${flag}:${description}`));
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
function quote(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
