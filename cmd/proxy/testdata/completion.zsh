#compdef fugu
# fugu completion zsh > "${fpath[1]}/_fugu"
_fugu() {
  if (( CURRENT == 2 )); then
    local -a list=(
      'init:propose a policy, configuration and grants for tables of a database, and write them'
      'check:check configuration, policies, grants and references, and say what is wrong'
      'serve:answer clients'
      'user:give a user a password'
      'twin:make the twins that policies ask for'
      'preview:show F, mechanism, noise and interval for several epsilon; spends nothing'
      'fit:prepare models from the references, and report how well they fit'
      'budget:show what is left of every budget'
      'epoch:say that the tables hold other data\: stored answers end'
      'audit:verify the ledger and its audit chain'
      'ledger:copy the ledger, while proxies use it'
      'schema:print the JSON Schema of policy files, for editors'
      'completion:print what a shell completes commands by'
      'man:print the manual page, in roff'
      'version:print the version'
    )
    _describe command list
    return
  fi
  case ${words[2]} in
  init)
    _arguments '1: :(init)' \
      '-analyst[name of who may ask; may be repeated]:name:_default' \
      '-answers[how statements are answered\: twin (any SQL on a copy, for one price; so it is if nobody says) or noise (each statement pays)]:how:_default' \
      '-dataset[name in budgets; that of the database if it is not given]:name:_default' \
      '-delta[delta of the twin, or of each statement]:delta:_default' \
      '-dir[directory to write to]:directory:_default' \
      '-drop[column of the table that its twin leaves out; may be repeated]:column:_default' \
      '-epsilon[epsilon of the twin, or of each statement]:epsilon:_default' \
      '-force[write over files, and give new passwords to roles that there are]' \
      '-from[least share that everybody may take for possible]:share:_default' \
      '-independent-rows[take rows of one subject, such as a customer'\''s orders, to be drawn one by one]' \
      '-listen[host\:port for analysts]:host\:port:_default' \
      '-name[name of the secret]:name:_default' \
      '-open[table that analysts read as it is, beside those that protected rows refer to; may be repeated]:table:_default' \
      '-reference[TABLE of public rows like the table'\''s, or TABLE=REFERENCE; for noise; may be repeated]:TABLE:_default' \
      '-roles[what the names of the database'\''s roles begin with\: fugu_guest, ...]:fugu:_default' \
      '-rows[public number of rows of the table]:number:_default' \
      '-secret[condition in SQL\: which share of the rows satisfies it is secret]:condition:_default' \
      '-show-rows[let analysts see single rows of the twin]' \
      '-table[name of the table that has the secret]:name:_default' \
      '-to[greatest share that everybody may take for possible]:share:_default' \
      '-within[how close two shares are that nobody may tell apart]:shares:_default' '*: :_default' ;;
  check)
    _arguments '1: :(check)' \
      '-c[configuration file]:file:_default' \
      '-json[print JSON]' '*: :_default' ;;
  serve)
    _arguments '1: :(serve)' \
      '-c[configuration file]:file:_default' '*: :_default' ;;
  user)
    _arguments '1: :(user)' '2: :(add)' \
      '-c[configuration file]:file:_default' \
      '-f[users file; that of the configuration if it is not given]:file:_default' \
      '-generate[make a password and print it, in the place of asking for one]' \
      '-replace[give a user that there is another password]' '*: :_default' ;;
  twin)
    _arguments '1: :(twin)' '2: :(build preview show drop export)' \
      '-again[build\: make twins again from the rows that there are now, with the counts that they have; free]' \
      '-c[configuration file]:file:_default' \
      '-independent[build\: the owner declares that the rows are drawn independently of those of every twin before]' \
      '-json[print JSON]' \
      '-new[build\: draw new counts, which is charged like the first; needs -reason]' \
      '-operator[name for the audit\: who]:name:_default' \
      '-outside[build\: make the first twin also of a table that has no row of some class of a secret]' \
      '-reason[text for the audit\: why]:text:_default' \
      '-user[the same as -operator, by its former name]:name:_default' '*: :_default' ;;
  preview)
    _arguments '1: :(preview)' \
      '-c[configuration file]:file:_default' \
      '-database[name of the statement'\''s database, where policies name several]:name:_default' \
      '-epsilon[list of epsilon, separated by commas (0.1,0.2,0.5,1,2,5; of a workload one, the policy'\''s)]:list:_default' \
      '-json[print JSON]' \
      '-p[value of the next parameter ($1, $2, ...); may be repeated]:value:_default' \
      '-plot[draw plots, as on a terminal]' \
      '-workload[file of statements, in the place of one]:file:_default' '*: :_default' ;;
  fit)
    _arguments '1: :(fit)' \
      '-c[configuration file]:file:_default' \
      '-f[file of statements to prepare, each ended by a semicolon]:file:_default' \
      '-json[print JSON]' \
      '-statement[SQL of a statement to prepare beside the standard ones; may be repeated]:SQL:_default' '*: :_default' ;;
  budget)
    _arguments '1: :(budget)' '2: :(show reset)' \
      '-c[configuration file]:file:_default' \
      '-json[print JSON]' \
      '-n[show the last number of charges]:number:_default' \
      '-operator[name for the audit\: who]:name:_default' \
      '-reason[text for the audit\: why]:text:_default' \
      '-user[show the accounts of name, and what they asked; who resets is -operator]:name:_default' '*: :_default' ;;
  epoch)
    _arguments '1: :(epoch)' '2: :(advance)' \
      '-c[configuration file]:file:_default' \
      '-operator[name for the audit\: who]:name:_default' \
      '-reason[text for the audit\: why]:text:_default' \
      '-user[the same as -operator, by its former name]:name:_default' '*: :_default' ;;
  audit)
    _arguments '1: :(audit)' '2: :(verify export)' \
      '-c[configuration file]:file:_default' \
      '-head[NUMBER\:HASH that an earlier audit printed, which must be in the chain]:NUMBER\:HASH:_default' '*: :_default' ;;
  ledger)
    _arguments '1: :(ledger)' '2: :(backup export import compact)' \
      '-before[compact answers given before date\: 2006-01-02, or with a time as in RFC 3339]:date:_default' \
      '-c[configuration file]:file:_default' \
      '-json[print JSON]' \
      '-operator[name for the audit\: who]:name:_default' \
      '-reason[text for the audit\: why]:text:_default' '*: :_default' ;;
  schema)
    _arguments '1: :(schema)' '2: :(policy config)' '*: :_default' ;;
  completion)
    _arguments '1: :(completion)' '2: :(bash zsh fish)' '*: :_default' ;;
  man)
    _arguments '1: :(man)' '*: :_default' ;;
  version)
    _arguments '1: :(version)' \
      '-json[print JSON]' '*: :_default' ;;
  esac
}
_fugu "$@"
