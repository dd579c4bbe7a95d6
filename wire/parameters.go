package wire

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"fugu/sqlstate"
)

// setting is a run-time parameter with the value that a client wants for it.
type setting struct{ name, value string }

// parameters are what a startup message says about run-time parameters, in the order in which PostgreSQL applies it:
// what stands in options first, so that parameters of their own name win.
type parameters struct {
	options  string
	settings []setting
}

// allowed gives the parameters to pass on to the guest, by name in lower case; pinned ones are checked and left out.
// Only parameters that every session may set for itself pass, so that a startup message can do no more than SET can
// (compare CVE-2025-12819). They are passed on as names and values, never as options, where a value could end and
// another option begin.
func (p parameters) allowed() (map[string]string, error) {
	settings, err := parseOptions(p.options)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}

	// What comes later counts, as with PostgreSQL.
	for _, s := range append(settings, p.settings...) {
		name := strings.ToLower(s.name)
		switch {
		case !utf8.ValidString(s.value):
			return nil, sqlstate.New(sqlstate.CharacterNotInRepertoire,
				"invalid byte sequence for encoding \"UTF8\" in parameter \"%s\"",
				field(strings.ToValidUTF8(s.name, "?"))).Ending()
		case name == "client_encoding":
			if !isUTF8(s.value) {
				return nil, pinned(name, "UTF8")
			}
		case name == "standard_conforming_strings":
			if on, ok := parseBool(s.value); ok && !on || s.value == "" {
				return nil, pinned(name, "on")
			}
		case ownSettings[name], customName.MatchString(name):
			out[name] = s.value
		case startupOnly[name]:
			return nil, sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied to set parameter \"%s\"", name).
				Ending()
		default:
			return nil, sqlstate.New(sqlstate.UndefinedObject, "unrecognized configuration parameter \"%s\"",
				strings.ToValidUTF8(s.name, "?")).
				WithHint("A client may start with parameters that any user may SET, and no others.").Ending()
		}
	}
	return out, nil
}

// parseOptions reads the command-line arguments of a startup message (manual, "Parameter Interaction via the Shell"):
// words between white space, in which a backslash makes the next character ordinary. Of PostgreSQL's switches, -c and
// -- are known here, which set parameters.
func parseOptions(options string) ([]setting, error) {
	words := splitOptions(options)
	var out []setting
	for i := 0; i < len(words); i++ {
		word := words[i]
		var assignment string
		switch {
		case word == "-c" && i+1 < len(words):
			i++
			assignment = words[i]
		case strings.HasPrefix(word, "-c") && word != "-c":
			assignment = word[2:]
		case strings.HasPrefix(word, "--") && word != "--":
			assignment = word[2:]
		default:
			return nil, sqlstate.New(sqlstate.SyntaxError, "invalid command-line argument for server process: %s",
				strings.ToValidUTF8(word, "?")).
				WithHint("Write -c name=value or --name=value.").Ending()
		}

		// As PostgreSQL does, a name may be written with dashes in place of underscores.
		name, value, ok := strings.Cut(assignment, "=")
		if !ok {
			dashes := "-c "
			if strings.HasPrefix(word, "--") {
				dashes = "--"
			}
			return nil, sqlstate.New(sqlstate.SyntaxError, "%s%s requires a value", dashes,
				strings.ToValidUTF8(assignment, "?")).Ending()
		}
		out = append(out, setting{strings.ReplaceAll(name, "-", "_"), value})
	}
	return out, nil
}

// splitOptions cuts options into words (pg_split_opts).
func splitOptions(options string) []string {
	var words []string
	var word []byte
	within := false
	for i := 0; i < len(options); i++ {
		// White space ends a word, unless a backslash stands before it.
		switch c := options[i]; {
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if within {
				words = append(words, string(word))
			}
			word, within = word[:0], false
			continue
		case c == '\\' && i+1 < len(options):
			i++
			word = append(word, options[i])
		case c == '\\': // the last character: nothing is left to be escaped
		default:
			word = append(word, c)
		}
		within = true
	}

	if within {
		words = append(words, string(word))
	}
	return words
}

// isUTF8 knows the spellings that PostgreSQL takes for the encoding, with the quotes that some drivers put round it.
// SQL_ASCII, which psql asks for on a terminal in the C locale, means bytes as they are: such a client gets UTF8, and
// is told so by a ParameterStatus.
func isUTF8(v string) bool {
	v = strings.ToLower(strings.Trim(v, `'"`))
	v = strings.NewReplacer("-", "", "_", "").Replace(v)
	return v == "utf8" || v == "unicode" || v == "sqlascii"
}

// customName is the name of a parameter of an extension's or of the client's own making: any session may set one.
var customName = regexp.MustCompile(`^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)+$`)

func words(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// ownSettings are the parameters that any user may SET for a session of their own: those of context "user" in
// pg_settings, of PostgreSQL 12 to 18.
var ownSettings = words(`
	application_name array_nulls backend_flush_after backslash_quote bytea_output check_function_bodies
	client_connection_check_interval client_min_messages commit_siblings constraint_exclusion cpu_index_tuple_cost
	cpu_operator_cost cpu_tuple_cost createrole_self_grant cursor_tuple_fraction datestyle
	debug_logical_replication_streaming debug_parallel_query debug_pretty_print debug_print_parse debug_print_plan
	debug_print_rewritten default_statistics_target default_table_access_method default_tablespace
	default_text_search_config default_toast_compression default_transaction_deferrable default_transaction_isolation
	default_transaction_read_only default_with_oids effective_cache_size effective_io_concurrency enable_async_append
	enable_bitmapscan enable_distinct_reordering enable_gathermerge enable_group_by_reordering enable_hashagg
	enable_hashjoin enable_incremental_sort enable_indexonlyscan enable_indexscan enable_material enable_memoize
	enable_mergejoin enable_nestloop enable_parallel_append enable_parallel_hash enable_partition_pruning
	enable_partitionwise_aggregate enable_partitionwise_join enable_presorted_aggregate enable_self_join_elimination
	enable_seqscan enable_sort enable_tidscan escape_string_warning exit_on_error extra_float_digits file_copy_method
	force_parallel_mode from_collapse_limit geqo geqo_effort geqo_generations geqo_pool_size geqo_seed
	geqo_selection_bias geqo_threshold gin_fuzzy_search_limit gin_pending_list_limit hash_mem_multiplier
	icu_validation_level idle_in_transaction_session_timeout idle_session_timeout intervalstyle io_combine_limit jit
	jit_above_cost jit_expressions jit_inline_above_cost jit_optimize_above_cost jit_tuple_deforming
	join_collapse_limit lc_monetary lc_numeric lc_time lock_timeout log_parameter_max_length_on_error
	logical_decoding_work_mem maintenance_io_concurrency maintenance_work_mem max_parallel_maintenance_workers
	max_parallel_workers max_parallel_workers_per_gather md5_password_warnings min_parallel_index_scan_size
	min_parallel_table_scan_size operator_precedence_warning parallel_leader_participation parallel_setup_cost
	parallel_tuple_cost password_encryption plan_cache_mode quote_all_identifiers random_page_cost
	recursive_worktable_factor restrict_nonsystem_relation_kind role row_security scram_iterations search_path
	seq_page_cost statement_timeout stats_fetch_consistency synchronize_seqscans synchronous_commit
	tcp_keepalives_count tcp_keepalives_idle tcp_keepalives_interval tcp_user_timeout temp_buffers temp_tablespaces
	timezone timezone_abbreviations trace_notify trace_sort transaction_deferrable transaction_isolation
	transaction_read_only transaction_timeout transform_null_equals vacuum_buffer_usage_limit
	vacuum_cleanup_index_scale_factor vacuum_cost_delay vacuum_cost_limit vacuum_cost_page_dirty vacuum_cost_page_hit
	vacuum_cost_page_miss vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age
	vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age
	vacuum_multixact_freeze_table_age vacuum_truncate wal_sender_timeout wal_skip_threshold work_mem xmlbinary
	xmloption`)

// startupOnly are the parameters that a session can have no other way than at its start, and that are for the
// administrator.
var startupOnly = words(`
	ignore_system_indexes jit_debugging_support jit_profiling_support local_preload_libraries log_connections
	log_disconnections post_auth_delay session_authorization session_preload_libraries`)
