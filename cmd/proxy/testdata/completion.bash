# fugu completion bash >> ~/.bashrc
_fugu() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="help init check serve user twin preview fit budget epoch audit ledger schema completion man version"
  else
    case ${COMP_WORDS[1]} in
    init)
      if [ "${word#-}" != "$word" ]; then words="-analyst -answers -dataset -delta -dir -drop -epsilon -force -from -independent-rows -listen -name -open -reference -roles -rows -secret -show-rows -table -to -within"
      fi ;;
    check)
      if [ "${word#-}" != "$word" ]; then words="-c -json"
      fi ;;
    serve)
      if [ "${word#-}" != "$word" ]; then words="-c"
      fi ;;
    user)
      if [ "${word#-}" != "$word" ]; then words="-c -f -generate -replace"
      elif [ "$COMP_CWORD" -eq 2 ]; then words="add"
      fi ;;
    twin)
      if [ "${word#-}" != "$word" ]; then words="-again -c -independent -json -new -operator -outside -reason -user"
      elif [ "$COMP_CWORD" -eq 2 ]; then words="build preview show drop export"
      fi ;;
    preview)
      if [ "${word#-}" != "$word" ]; then words="-c -database -epsilon -json -p -plot -workload"
      fi ;;
    fit)
      if [ "${word#-}" != "$word" ]; then words="-c -f -json -statement"
      fi ;;
    budget)
      if [ "${word#-}" != "$word" ]; then words="-c -json -n -operator -reason -user"
      elif [ "$COMP_CWORD" -eq 2 ]; then words="show reset"
      fi ;;
    epoch)
      if [ "${word#-}" != "$word" ]; then words="-c -operator -reason -user"
      elif [ "$COMP_CWORD" -eq 2 ]; then words="advance"
      fi ;;
    audit)
      if [ "${word#-}" != "$word" ]; then words="-c -head"
      elif [ "$COMP_CWORD" -eq 2 ]; then words="verify export"
      fi ;;
    ledger)
      if [ "${word#-}" != "$word" ]; then words="-before -c -json -operator -reason"
      elif [ "$COMP_CWORD" -eq 2 ]; then words="backup export import compact"
      fi ;;
    schema)
      if [ "${word#-}" != "$word" ]; then words=""
      elif [ "$COMP_CWORD" -eq 2 ]; then words="policy config"
      fi ;;
    completion)
      if [ "${word#-}" != "$word" ]; then words=""
      elif [ "$COMP_CWORD" -eq 2 ]; then words="bash zsh fish"
      fi ;;
    man)
      if [ "${word#-}" != "$word" ]; then words=""
      fi ;;
    version)
      if [ "${word#-}" != "$word" ]; then words="-json"
      fi ;;
    esac
  fi
  while IFS= read -r reply; do
    COMPREPLY+=("$reply")
  done < <(compgen -W "$words" -- "$word")
}
complete -o default -F _fugu fugu
