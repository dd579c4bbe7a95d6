# fugu completion fish > ~/.config/fish/completions/fugu.fish
complete -c fugu -n __fish_use_subcommand -f -a init -d 'propose a policy, configuration and grants for tables of a database, and write them'
complete -c fugu -n '__fish_seen_subcommand_from init' -o analyst -r -d 'name of who may ask; may be repeated'
complete -c fugu -n '__fish_seen_subcommand_from init' -o answers -r -d 'how statements are answered: twin (any SQL on a copy, for one price; so it is if nobody says) or noise (each statement pays)'
complete -c fugu -n '__fish_seen_subcommand_from init' -o dataset -r -d 'name in budgets; that of the database if it is not given'
complete -c fugu -n '__fish_seen_subcommand_from init' -o delta -r -d 'delta of the twin, or of each statement'
complete -c fugu -n '__fish_seen_subcommand_from init' -o dir -r -d 'directory to write to'
complete -c fugu -n '__fish_seen_subcommand_from init' -o drop -r -d 'column of the table that its twin leaves out; may be repeated'
complete -c fugu -n '__fish_seen_subcommand_from init' -o epsilon -r -d 'epsilon of the twin, or of each statement'
complete -c fugu -n '__fish_seen_subcommand_from init' -o force -d 'write over files, and give new passwords to roles that there are'
complete -c fugu -n '__fish_seen_subcommand_from init' -o from -r -d 'least share that everybody may take for possible'
complete -c fugu -n '__fish_seen_subcommand_from init' -o independent-rows -d 'take rows of one subject, such as a customer\'s orders, to be drawn one by one'
complete -c fugu -n '__fish_seen_subcommand_from init' -o listen -r -d 'host:port for analysts'
complete -c fugu -n '__fish_seen_subcommand_from init' -o name -r -d 'name of the secret'
complete -c fugu -n '__fish_seen_subcommand_from init' -o open -r -d 'table that analysts read as it is, beside those that protected rows refer to; may be repeated'
complete -c fugu -n '__fish_seen_subcommand_from init' -o reference -r -d 'TABLE of public rows like the table\'s, or TABLE=REFERENCE; for noise; may be repeated'
complete -c fugu -n '__fish_seen_subcommand_from init' -o roles -r -d 'what the names of the database\'s roles begin with: fugu_guest, ...'
complete -c fugu -n '__fish_seen_subcommand_from init' -o rows -r -d 'public number of rows of the table'
complete -c fugu -n '__fish_seen_subcommand_from init' -o secret -r -d 'condition in SQL: which share of the rows satisfies it is secret'
complete -c fugu -n '__fish_seen_subcommand_from init' -o show-rows -d 'let analysts see single rows of the twin'
complete -c fugu -n '__fish_seen_subcommand_from init' -o table -r -d 'name of the table that has the secret'
complete -c fugu -n '__fish_seen_subcommand_from init' -o to -r -d 'greatest share that everybody may take for possible'
complete -c fugu -n '__fish_seen_subcommand_from init' -o within -r -d 'how close two shares are that nobody may tell apart'
complete -c fugu -n __fish_use_subcommand -f -a check -d 'check configuration, policies, grants and references, and say what is wrong'
complete -c fugu -n '__fish_seen_subcommand_from check' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from check' -o json -d 'print JSON'
complete -c fugu -n __fish_use_subcommand -f -a serve -d 'answer clients'
complete -c fugu -n '__fish_seen_subcommand_from serve' -o c -r -d 'configuration file'
complete -c fugu -n __fish_use_subcommand -f -a user -d 'give a user a password'
complete -c fugu -n '__fish_seen_subcommand_from user' -a add
complete -c fugu -n '__fish_seen_subcommand_from user' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from user' -o f -r -d 'users file; that of the configuration if it is not given'
complete -c fugu -n '__fish_seen_subcommand_from user' -o generate -d 'make a password and print it, in the place of asking for one'
complete -c fugu -n '__fish_seen_subcommand_from user' -o replace -d 'give a user that there is another password'
complete -c fugu -n __fish_use_subcommand -f -a twin -d 'make the twins that policies ask for'
complete -c fugu -n '__fish_seen_subcommand_from twin' -a build
complete -c fugu -n '__fish_seen_subcommand_from twin' -a preview
complete -c fugu -n '__fish_seen_subcommand_from twin' -a show
complete -c fugu -n '__fish_seen_subcommand_from twin' -a drop
complete -c fugu -n '__fish_seen_subcommand_from twin' -a export
complete -c fugu -n '__fish_seen_subcommand_from twin' -o again -d 'build: make twins again from the rows that there are now, with the counts that they have; free'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o independent -d 'build: the owner declares that the rows are drawn independently of those of every twin before'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o json -d 'print JSON'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o new -d 'build: draw new counts, which is charged like the first; needs -reason'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o operator -r -d 'name for the audit: who'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o outside -d 'build: make the first twin also of a table that has no row of some class of a secret'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o reason -r -d 'text for the audit: why'
complete -c fugu -n '__fish_seen_subcommand_from twin' -o user -r -d 'the same as -operator, by its former name'
complete -c fugu -n __fish_use_subcommand -f -a preview -d 'show F, mechanism, noise and interval for several epsilon; spends nothing'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o database -r -d 'name of the statement\'s database, where policies name several'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o epsilon -r -d 'list of epsilon, separated by commas (0.1,0.2,0.5,1,2,5; of a workload one, the policy\'s)'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o json -d 'print JSON'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o p -r -d 'value of the next parameter ($1, $2, ...); may be repeated'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o plot -d 'draw plots, as on a terminal'
complete -c fugu -n '__fish_seen_subcommand_from preview' -o workload -r -d 'file of statements, in the place of one'
complete -c fugu -n __fish_use_subcommand -f -a fit -d 'prepare models from the references, and report how well they fit'
complete -c fugu -n '__fish_seen_subcommand_from fit' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from fit' -o f -r -d 'file of statements to prepare, each ended by a semicolon'
complete -c fugu -n '__fish_seen_subcommand_from fit' -o json -d 'print JSON'
complete -c fugu -n '__fish_seen_subcommand_from fit' -o statement -r -d 'SQL of a statement to prepare beside the standard ones; may be repeated'
complete -c fugu -n __fish_use_subcommand -f -a budget -d 'show what is left of every budget'
complete -c fugu -n '__fish_seen_subcommand_from budget' -a show
complete -c fugu -n '__fish_seen_subcommand_from budget' -a reset
complete -c fugu -n '__fish_seen_subcommand_from budget' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from budget' -o json -d 'print JSON'
complete -c fugu -n '__fish_seen_subcommand_from budget' -o n -r -d 'show the last number of charges'
complete -c fugu -n '__fish_seen_subcommand_from budget' -o operator -r -d 'name for the audit: who'
complete -c fugu -n '__fish_seen_subcommand_from budget' -o reason -r -d 'text for the audit: why'
complete -c fugu -n '__fish_seen_subcommand_from budget' -o user -r -d 'show the accounts of name, and what they asked; who resets is -operator'
complete -c fugu -n __fish_use_subcommand -f -a epoch -d 'say that the tables hold other data: stored answers end'
complete -c fugu -n '__fish_seen_subcommand_from epoch' -a advance
complete -c fugu -n '__fish_seen_subcommand_from epoch' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from epoch' -o operator -r -d 'name for the audit: who'
complete -c fugu -n '__fish_seen_subcommand_from epoch' -o reason -r -d 'text for the audit: why'
complete -c fugu -n '__fish_seen_subcommand_from epoch' -o user -r -d 'the same as -operator, by its former name'
complete -c fugu -n __fish_use_subcommand -f -a audit -d 'verify the ledger and its audit chain'
complete -c fugu -n '__fish_seen_subcommand_from audit' -a verify
complete -c fugu -n '__fish_seen_subcommand_from audit' -a export
complete -c fugu -n '__fish_seen_subcommand_from audit' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from audit' -o head -r -d 'NUMBER:HASH that an earlier audit printed, which must be in the chain'
complete -c fugu -n __fish_use_subcommand -f -a ledger -d 'copy the ledger, while proxies use it'
complete -c fugu -n '__fish_seen_subcommand_from ledger' -a backup
complete -c fugu -n '__fish_seen_subcommand_from ledger' -a export
complete -c fugu -n '__fish_seen_subcommand_from ledger' -a import
complete -c fugu -n '__fish_seen_subcommand_from ledger' -a compact
complete -c fugu -n '__fish_seen_subcommand_from ledger' -o before -r -d 'compact answers given before date: 2006-01-02, or with a time as in RFC 3339'
complete -c fugu -n '__fish_seen_subcommand_from ledger' -o c -r -d 'configuration file'
complete -c fugu -n '__fish_seen_subcommand_from ledger' -o json -d 'print JSON'
complete -c fugu -n '__fish_seen_subcommand_from ledger' -o operator -r -d 'name for the audit: who'
complete -c fugu -n '__fish_seen_subcommand_from ledger' -o reason -r -d 'text for the audit: why'
complete -c fugu -n __fish_use_subcommand -f -a schema -d 'print the JSON Schema of policy files, for editors'
complete -c fugu -n '__fish_seen_subcommand_from schema' -a policy
complete -c fugu -n '__fish_seen_subcommand_from schema' -a config
complete -c fugu -n __fish_use_subcommand -f -a completion -d 'print what a shell completes commands by'
complete -c fugu -n '__fish_seen_subcommand_from completion' -a bash
complete -c fugu -n '__fish_seen_subcommand_from completion' -a zsh
complete -c fugu -n '__fish_seen_subcommand_from completion' -a fish
complete -c fugu -n __fish_use_subcommand -f -a man -d 'print the manual page, in roff'
complete -c fugu -n __fish_use_subcommand -f -a version -d 'print the version'
complete -c fugu -n '__fish_seen_subcommand_from version' -o json -d 'print JSON'
