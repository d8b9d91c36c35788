import { Argument, Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** Scripts that call `injector __complete`; if it prints nothing, shells complete file names. */
const scripts = {
  bash: `# Load it with: source <(injector completion bash)
_injector() {
  local IFS=$'\\n' program=("\${COMP_WORDS[0]}")
  if [[ -n \${BASH_ALIASES[$program]} ]]; then eval "program=(\${BASH_ALIASES[$program]})"; fi
  COMPREPLY=($("\${program[@]}" __complete --current="\${COMP_WORDS[COMP_CWORD]}" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null))
}
complete -o default -F _injector injector
`,
  zsh: `#compdef injector
# Load it with: source <(injector completion zsh), after compinit
_injector() {
  local -a found program=(\${(Q)\${(z)\${aliases[$words[1]]:-$words[1]}}})
  found=("\${(@f)$("\${program[@]}" __complete --current="\${words[CURRENT]}" -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _injector ]]; then _injector "$@"; else compdef _injector injector; fi
`,
  fish: `# Load it with: injector completion fish | source
function __injector_complete
    set -l words (commandline -opc)
    set -l found ($words[1] __complete --current=(commandline -ct) -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c injector -f -a '(__injector_complete)'
`,
  powershell: `# Load it with: injector completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName injector -ScriptBlock {
  param($current, $line, $cursor)
  $words = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $before = @($words | Select-Object -Skip 1)
  & $words[0] __complete "--current=$current" '--' @before 2>$null |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
} as const;

/** `injector completion SHELL`: prints the completion script of a shell. */
export function completionCommand(terminal: Terminal): Command {
  const shell = new Argument('<shell>', 'the shell').choices(Object.keys(scripts));
  return new Command('completion')
    .description('print the completion script of a shell, for commands, options and names of objects')
    .addArgument(shell)
    .action((name: keyof typeof scripts) => terminal.document(scripts[name]));
}
