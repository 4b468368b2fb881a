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
